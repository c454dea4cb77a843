"""Renders the report of a results folder, by Quarto if it is installed, otherwise by the built-in preview.

Both work in a private copy of `reports/`, so that concurrent renderings do not interfere, and get the folder of results
through the environment. The page records its own origin. It appears whole or not at all.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from crossover.config import sources
from crossover.errors import CrossoverError
from crossover.paths import REPORTS, WORKFLOW
from crossover.records import atomic, failure
from crossover.records.failure import Failure
from crossover.report.render import heading, origin, preview, quarto_page
from crossover.report.render.inputs import FAILURES_VARIABLE, RESULTS_VARIABLE, WAITING_VARIABLE

REPORT = "index.qmd"
"""The source of the report on one run."""


def render(
    results: Path, page: Path, waiting: str = "{}", source: str = REPORT, *, foreign: bool = False
) -> list[Failure]:
    """Render the report on `results`, or another `source` in `reports/`, to the file `page`.

    Results that are `foreign` can hold any text, so the preview renders them: its page runs no script but ours.
    `waiting` is JSON, as `inputs.WAITING_VARIABLE` describes. Returns the failed parts of the results and of the page,
    which lists them at its top and so is rendered twice if a part of it fails. Raises CrossoverError.
    """
    # Computed before rendering, so that later changes of the results make the page outdated.
    made_from = origin.of(results, waiting)
    environment = os.environ | {
        RESULTS_VARIABLE: str(results.resolve()),
        WAITING_VARIABLE: waiting,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(WORKFLOW), os.environ.get("PYTHONPATH")])),
    }
    with tempfile.TemporaryDirectory(prefix="crossover-") as folder:
        copy = Path(folder) / "reports"
        shutil.copytree(REPORTS, copy, ignore=shutil.ignore_patterns("_site", ".quarto", "*_files"))
        # Written afresh, so that new documents are cited even before `make docs`.
        (copy / sources.BIBLIOGRAPHY.name).write_text(sources.bibliography(sources.read()), encoding="utf-8")
        if source == REPORT:
            described = copy / source
            text = heading.reduced(described.read_text(encoding="utf-8"), results)
            described.write_text(heading.titled(text, results), encoding="utf-8")
        parts = Path(folder) / "failures"
        environment[FAILURES_VARIABLE] = str(parts)
        quarto = None if foreign else shutil.which("quarto")
        made = _rendered(copy, source, environment, page, quarto)
        if parts.exists():
            made = _rendered(copy, source, environment, page, quarto)
        failures = [*failure.within(results), *failure.of(parts)]
        text = origin.stamped(made.read_text(encoding="utf-8"), made_from)
        with atomic.replacing(page, "choose another place") as part:
            part.write_text(failure.stamped(text, failures), encoding="utf-8", newline="")
    return failures


def _rendered(copy: Path, source: str, environment: Mapping[str, str], page: Path, quarto: str | None) -> Path:
    if quarto:
        print(f"report: {quarto} renders {page}", file=sys.stderr)
        # The Quarto project has only one page, the index.
        if source != REPORT:
            shutil.copyfile(copy / source, copy / REPORT)
        return _by_quarto(quarto, copy, environment)
    print(f"report: the built-in preview renders {page}", file=sys.stderr)
    made = copy / "preview.html"
    preview.render(copy / source, made, environment)
    return made


def _by_quarto(quarto: str, copy: Path, environment: Mapping[str, str]) -> Path:
    done = subprocess.run(
        [quarto, "render"],
        cwd=copy,
        env={**environment, "QUARTO_PYTHON": sys.executable},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        errors="replace",
        encoding="utf-8",
    )
    made = copy / "_site" / "index.html"
    if done.returncode == 0 and made.is_file():
        made.write_text(quarto_page.finished(made.read_text(encoding="utf-8")), encoding="utf-8", newline="")
        return made
    what = f"ended with code {done.returncode}" if done.returncode else "ended with code 0 but made no page"
    output = "\n".join(f"  {line}" for line in done.stdout.splitlines()[-15:])
    raise CrossoverError(
        f"{quarto} {what}:\n{output}\n"
        "Correct that (`quarto check jupyter` shows whether Quarto finds this Python), or remove quarto from PATH, so "
        "that the built-in preview renders the page"
    )
