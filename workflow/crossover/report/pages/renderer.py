"""Renders the report of a results folder, by Quarto if it is installed, otherwise by the built-in preview.

Both work in a private copy of `reports/`, so that concurrent renderings do not interfere, and get the folder of results
through the environment. The page appears whole or not at all. It records its own origin: digests of the results, and
the renderer's inputs. It has no date, so that the same results give the same page, byte for byte.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from crossover.config import sources
from crossover.errors import CrossoverError
from crossover.paths import REPORTS, WORKFLOW
from crossover.records import atomic, record
from crossover.report.pages import heading, preview
from crossover.report.pages.parts import RESULTS_VARIABLE, WAITING_VARIABLE

REPORT = "index.qmd"
"""The source of the report."""

ORIGIN_MARK = "crossover-origin"
"""The identifier of the element with the origin; it identifies crossover's pages."""

ORIGIN_ELEMENT = re.compile(rf'<script type="application/json" id="{ORIGIN_MARK}">(.*?)</script>', re.DOTALL)

FILE_MARK = "data-file"
"""The attribute of a user's file on a page, with its name."""

QUARTO_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline' data:; img-src data:; "
    "font-src data:; base-uri 'none'; form-action 'none'"
)
"""What a browser may run and load: scripts inside the page, as Quarto writes them, and nothing from elsewhere."""


def render(results: Path, page: Path, waiting: str = "{}", *, foreign: bool = False) -> None:
    """Render the report on `results` to the file `page`.

    Results that are `foreign` can hold any text, so the preview renders them: its page runs no script but ours.
    `waiting` is JSON, as `parts.WAITING_VARIABLE` describes. Raises CrossoverError.
    """
    # Computed before rendering, so that later changes of the results make the page outdated.
    made_from = origin(results, waiting)
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
        described = copy / REPORT
        text = heading.reduced(described.read_text(encoding="utf-8"), results)
        described.write_text(heading.titled(text, results), encoding="utf-8")
        made = _rendered(copy, environment, page, None if foreign else shutil.which("quarto"))
        text = _stamped(made.read_text(encoding="utf-8"), made_from)
        with atomic.replacing(page, "choose another place") as part:
            part.write_text(text, encoding="utf-8", newline="")


def _rendered(copy: Path, environment: Mapping[str, str], page: Path, quarto: str | None) -> Path:
    if quarto:
        print(f"report: {quarto} renders {page}", file=sys.stderr)
        return _by_quarto(quarto, copy, environment)
    print(f"report: the built-in preview renders {page}", file=sys.stderr)
    made = copy / "preview.html"
    preview.render(copy / REPORT, made, environment)
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
        policy = f'<head><meta http-equiv="Content-Security-Policy" content="{QUARTO_POLICY}">'
        text = made.read_text(encoding="utf-8").replace("<head>", policy, 1)
        made.write_text(text, encoding="utf-8", newline="")
        return made
    what = f"ended with code {done.returncode}" if done.returncode else "ended with code 0 but made no page"
    output = "\n".join(f"  {line}" for line in done.stdout.splitlines()[-15:])
    raise CrossoverError(
        f"{quarto} {what}:\n{output}\n"
        "Correct that (`quarto check jupyter` shows whether Quarto finds this Python), or remove quarto from PATH, so "
        "that the built-in preview renders the page"
    )


def origin(results: Path, waiting: str = "{}") -> dict[str, Any]:
    """The origin of a page on `results`: the digest of each table and of each folder of figures."""
    # Archives and git lose empty folders, which exist if nothing was measured.
    # A killed step leaves a hidden folder.
    folders = (path for path in results.glob("figures/[!.]*") if path.is_dir())
    figures = [path for path in folders if any(_visible(path))]
    contents = sorted([*results.glob("*.parquet"), *figures])
    return {
        "crossover": record.VERSION,
        "made_from": {path.relative_to(results).as_posix(): _digest(path) for path in contents},
        "waiting": json.loads(waiting),
    }


def _stamped(text: str, facts: dict[str, Any]) -> str:
    """A page with the facts in it, as unused data."""
    # In a script element, only a closing tag ends the text.
    data = json.dumps(facts, sort_keys=True, separators=(",", ":")).replace("</", "<\\/")
    body, end, rest = text.rpartition("</body>")
    element = f'<script type="application/json" id="{ORIGIN_MARK}">{data}</script>'
    return f"{body}{element}\n{end}{rest}" if end else f"{text}{element}\n"


def recorded_origin(page: Path) -> dict[str, Any]:
    """The origin that a page records. Raises CrossoverError."""
    try:
        facts: dict[str, Any] = json.loads(ORIGIN_ELEMENT.findall(atomic.regular(page).read_text(encoding="utf-8"))[-1])
        found = {key: facts[key] for key in ("crossover", "made_from", "waiting")}
        if not isinstance(found["made_from"], dict) or not isinstance(found["waiting"], dict):
            raise TypeError
        return found
    except OSError as error:
        raise CrossoverError(f"{page}: there is no report ({error.strerror}); make it: make report") from None
    except (IndexError, KeyError, TypeError, ValueError):
        raise CrossoverError(f"{page}: has no record of its origin; render it again: make report") from None


def _visible(folder: Path) -> Iterator[Path]:
    """The files of a folder without the hidden file that Snakemake adds to a rule's output folder."""
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith("."))


def _digest(path: Path) -> str:
    content = sha256()
    for file in _visible(path) if path.is_dir() else [path]:
        content.update(file.relative_to(path).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return content.hexdigest()
