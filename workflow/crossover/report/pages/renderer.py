"""Renders the report of a results folder, by Quarto if it is installed, otherwise by the built-in preview.

Both work in a private copy of `reports/`, so that concurrent renderings do not interfere, and get the folder of results
through the environment. The page appears whole or not at all. It records its own origin: digests of the results, and
the renderer's inputs. It has no date, so that the same results give the same page, byte for byte.

Quarto's page gets a content security policy, and its style sheets only once. Quarto embeds the whole of Bootstrap three
times: for the light theme, for the dark theme, and for browsers without scripts. Nearly all rules are the same.
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
from urllib.parse import unquote

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

QUARTO_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline' data:; img-src data:; "
    "font-src data:; base-uri 'none'; form-action 'none'"
)
"""What a browser may run and load: scripts inside the page, as Quarto writes them, and nothing from elsewhere."""

SHEET = re.compile(r'<link href="data:text/css,(?P<css>[^"]*)"(?P<rest>[^>]*id="quarto-bootstrap"[^>]*)>')
TOKEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|url\([^"\'][^)]*\)|[{};]', re.DOTALL)
LIGHT, DARK, WITHOUT_SCRIPTS = range(3)


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
        made.write_text(finished_quarto_page(made.read_text(encoding="utf-8")), encoding="utf-8", newline="")
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


def finished_quarto_page(page: str) -> str:
    """Quarto's page with the policy, and as small as it can be. A page of another form keeps its style sheets."""
    page = re.sub(
        r"<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{QUARTO_POLICY}">', page, count=1
    )
    sheets = list(SHEET.finditer(page))
    kinds = ["quarto-color-alternate" in sheet["rest"] for sheet in sheets]
    if kinds != [False, True, False] or "quarto-color-scheme-extra" not in sheets[WITHOUT_SCRIPTS]["rest"]:
        return page
    light, dark = (unquote(sheets[kind]["css"]) for kind in (LIGHT, DARK))
    replaced = [
        "<style>" + light.replace("</", r"<\/") + "</style>" + _link_to_style("", sheets[LIGHT]["rest"]),
        # Quarto's script switches it on. Without scripts the page stays light.
        _link_to_style(
            style_differences(light, dark), sheets[DARK]["rest"].replace('"stylesheet"', '"disabled-stylesheet"')
        ),
        _link_to_style("", sheets[WITHOUT_SCRIPTS]["rest"]),
    ]
    for sheet, new in reversed(list(zip(sheets, replaced, strict=True))):
        page = page[: sheet.start()] + new + page[sheet.end() :]
    return page


def _link_to_style(css: str, rest: str) -> str:
    escaped = re.sub(r'[%#"&<>\n]', lambda found: f"%{ord(found[0]):02X}", css)
    return f'<link href="data:text/css,{escaped}"{rest}>'


def style_differences(base: str, other: str) -> str:
    """The rules that make the style sheet `other` of `base`, when they follow it.

    A rule that both have is repeated if its selector or a part of it has a different rule before it.
    """
    known = set(style_rules(base))
    changed: set[str] = set()
    kept = []
    for condition, rule in style_rules(other):
        selectors = {selector.strip() for selector in rule.partition("{")[0].split(",")}
        if (condition, rule) not in known or selectors & changed:
            kept.append(f"{condition}{{{rule}}}" if condition else rule)
            changed |= selectors
    return "".join(kept)


def style_rules(css: str, condition: str = "") -> Iterator[tuple[str, str]]:
    """The rules of a style sheet in order, each after its condition, such as `@media print`."""
    start = depth = opened = 0
    for token in TOKEN.finditer(css):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 1 and token[0] == "{":
            opened = token.end()
        if depth == 0 and token[0] in ("}", ";"):
            rule = css[start : token.end()].strip()
            if not condition and rule.startswith(("@media", "@supports")):
                yield from style_rules(css[opened : token.start()], css[start : opened - 1].strip())
            else:
                yield condition, rule
            start = token.end()
