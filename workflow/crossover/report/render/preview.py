"""Renders `reports/index.qmd` without Quarto, to one self-contained page that loads nothing.

It supports the subset of Quarto's Markdown that `qmd` accepts and `preview.lua` turns into HTML: numbered figures and
tables, references to them, citations, callouts, tabs.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pypandoc

from crossover.errors import CrossoverError
from crossover.report.render import execute, qmd

HERE = Path(__file__).parent
PANDOC_SECONDS = 120
"""Time limit of pandoc, which needs a second for the largest report."""


def render(source: Path, page: Path, environment: Mapping[str, str]) -> None:
    """Render the `.qmd` at `source` to the HTML file `page`, with its code run in `environment`."""
    try:
        front, parts = qmd.parse(source.read_text(encoding="utf-8"))
        body = execute.markdown(parts, source.parent, environment)
        page.write_bytes(html(front, body, source.parent))
    except CrossoverError as error:
        raise CrossoverError(f"{source.name}, {error}") from error


def html(front: Mapping[str, Any], body: str, base: Path | None = None) -> bytes:
    """A page from front matter and Markdown; its bibliography is in the folder `base`. Raises CrossoverError."""
    with tempfile.TemporaryDirectory(prefix="crossover-") as folder:
        metadata = Path(folder) / "front.json"
        metadata.write_text(json.dumps(dict(front)), encoding="utf-8")
        command = [
            *(pypandoc.get_pandoc_path(), "--from=markdown", "--to=html5", "--standalone", "--mathml", "--wrap=none"),
            *("--toc", "--toc-depth=3", f"--metadata-file={metadata}"),
            # The filter comes first, because citeproc would take references to parts of the page for citations.
            *(f"--template={HERE / 'preview.html'}", f"--lua-filter={HERE / 'preview.lua'}", "--citeproc"),
            *(f"--variable={name}={_asset(file)}" for name, file in (("style", "css"), ("script", "js"))),
        ]
        try:
            done = subprocess.run(command, cwd=base, input=body.encode(), capture_output=True, timeout=PANDOC_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise CrossoverError(f"pandoc: not finished after {PANDOC_SECONDS} s") from error
    if done.returncode:
        raise CrossoverError(f"pandoc: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def _asset(ending: str) -> str:
    return (HERE / f"preview.{ending}").read_text(encoding="utf-8")
