"""Renders the report of a results folder, by Quarto if it is installed, otherwise by the built-in preview.

Both work in a private copy of `reports/`, so that concurrent renderings do not interfere, and get the folder of results
through the environment. The page appears whole or not at all. It records its own origin: digests of the results, and
the renderer's inputs. It has no date, so that the same results give the same page, byte for byte.
"""

import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from crossover import programs
from crossover.config import sources
from crossover.errors import CrossoverError
from crossover.paths import REPORTS, WORKFLOW
from crossover.records import atomic, record, temporary
from crossover.report.pages import heading, preview
from crossover.report.pages.parts import RESULTS_VARIABLE, WAITING_VARIABLE

REPORT = "index.qmd"
"""The source of the report."""

ORIGIN_MARK = "crossover-origin"
"""The identifier of the element with the origin; it identifies crossover's pages."""

ORIGIN_ELEMENT = re.compile(rf'<script type="application/json" id="{ORIGIN_MARK}">(.*?)</script>', re.DOTALL)

SHEET = re.compile(r'"data:text/css,([^"]*)"')
SECOND_COPY = re.compile(
    r'<link href="data:text/css,[^"]*"[^>]* class="quarto-color-scheme-extra"[^>]*>'
    # The script that disables it would stop there, and leave the dark theme on.
    r"|document\.querySelector\('link#[\w-]+\.quarto-color-scheme-extra'\)\.rel = 'disabled-stylesheet';"
)
ICONS = re.compile(r'<style[^>]*>\s*@font-face \{[^}]*font-family: "bootstrap-icons".*?</style>', re.DOTALL)
"""Parts of a page by Quarto."""

UNENCODED = " !'()*+,/:;<=>?@[\\]^`{|}~$"
"""The characters that may stand in the address of a style sheet, besides letters, digits and `_.-~`."""

COLOUR = re.compile(r"\x1b\[[0-9;]*m")

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
    # For the kernel, which has the packages of this Python alone.
    inputs = {
        RESULTS_VARIABLE: str(results.resolve()),
        WAITING_VARIABLE: waiting,
        "PYTHONPATH": str(WORKFLOW),
        "PYTHONNOUSERSITE": "1",
    }
    with temporary.folder() as folder:
        copy = folder / "reports"
        shutil.copytree(REPORTS, copy, ignore=shutil.ignore_patterns("_site", ".quarto", "*_files"))
        # Written afresh, so that new documents are cited even before `make docs`.
        (copy / sources.BIBLIOGRAPHY.name).write_text(sources.bibliography(sources.read()), encoding="utf-8")
        described = copy / REPORT
        text = heading.reduced(described.read_text(encoding="utf-8"), results)
        described.write_text(heading.titled(text, results), encoding="utf-8")
        made = _rendered(copy, inputs, page, None if foreign else shutil.which("quarto"))
        text = _stamped(made.read_text(encoding="utf-8"), made_from)
        with atomic.replacing(page, "choose another place") as part:
            part.write_text(text, encoding="utf-8", newline="")


def _rendered(copy: Path, inputs: Mapping[str, str], page: Path, quarto: str | None) -> Path:
    if quarto:
        print(f"report: {quarto} renders {page}", file=sys.stderr)
        try:
            return _by_quarto(quarto, copy, inputs)
        except CrossoverError as error:
            # The only line on standard output: a run shows it, and the rest is in the log.
            print(f"report: {error}; the built-in preview renders the page", flush=True)
    print(f"report: the built-in preview renders {page}", file=sys.stderr)
    made = copy / "preview.html"
    preview.render(copy / REPORT, made, programs.environment(inputs))
    return made


def _by_quarto(quarto: str, copy: Path, inputs: Mapping[str, str]) -> Path:
    """The page that Quarto makes. Raises CrossoverError with the last line of its error if it fails."""
    done = programs.run([quarto, "render"], folder=copy, variables={**inputs, "QUARTO_PYTHON": sys.executable})
    made = copy / "_site" / "index.html"
    if done.returncode == 0 and made.is_file():
        policy = f'<head><meta http-equiv="Content-Security-Policy" content="{QUARTO_POLICY}">'
        text = _reduced(made.read_text(encoding="utf-8")).replace("<head>", policy, 1)
        made.write_text(text, encoding="utf-8", newline="")
        return made
    print(done.stdout, done.stderr, file=sys.stderr)
    lines = [line.strip() for line in COLOUR.sub("", f"{done.stdout}\n{done.stderr}").splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()] or lines or ["it made no page"]
    raise CrossoverError(f"Quarto failed (code {done.returncode}): {errors[-1]}")


def _reduced(page: str) -> str:
    """Quarto's page without its second copy of the light theme, which is for pages that load slowly, and without its
    font of icons, which this page does not use; style sheets are encoded no more than they must be.
    """
    page = ICONS.sub("", SECOND_COPY.sub("", page))
    return SHEET.sub(lambda sheet: f'"data:text/css,{quote(unquote(sheet[1]), UNENCODED)}"', page)


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
