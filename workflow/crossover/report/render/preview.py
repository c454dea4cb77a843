"""Renders `reports/index.qmd` where no Quarto is installed: one self-contained page that loads nothing.

It knows the subset of Quarto's Markdown that `qmd` accepts and that `preview.lua` turns into HTML: figures and
tables with numbers, references to them, citations, callouts, tabs.
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
"""When pandoc is given up: it needs a second for the largest report."""


def render(source: Path, page: Path, environment: Mapping[str, str]) -> None:
    """Render the `.qmd` at `source` to the HTML file `page`, its code running in `environment`."""
    try:
        front, parts = qmd.parse(source.read_text(encoding="utf-8"))
        body = execute.markdown(parts, source.parent, environment)
        page.write_bytes(html(front, body, source.parent))
    except CrossoverError as error:
        raise CrossoverError(f"{source.name}, {error}") from error


def html(front: Mapping[str, Any], body: str, base: Path | None = None) -> bytes:
    """A page from its front matter, whose bibliography is in the folder `base`, and Markdown. Raises CrossoverError."""
    with tempfile.TemporaryDirectory(prefix="crossover-") as folder:
        metadata = Path(folder) / "front.json"
        metadata.write_text(json.dumps(dict(front)), encoding="utf-8")
        command = [
            *(pypandoc.get_pandoc_path(), "--from=markdown", "--to=html5", "--standalone", "--mathml", "--wrap=none"),
            *("--toc", "--toc-depth=3", f"--metadata-file={metadata}"),
            # The filter first: it resolves references to parts of the page, which citeproc would take for citations.
            *(f"--template={HERE / 'preview.html'}", f"--lua-filter={HERE / 'preview.lua'}", "--citeproc"),
            *(f"--variable={name}={_dressing(file)}" for name, file in (("style", "css"), ("script", "js"))),
        ]
        try:
            done = subprocess.run(command, cwd=base, input=body.encode(), capture_output=True, timeout=PANDOC_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise CrossoverError(f"pandoc: not finished after {PANDOC_SECONDS} s") from error
    if done.returncode:
        raise CrossoverError(f"pandoc: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def _dressing(ending: str) -> str:
    return (HERE / f"preview.{ending}").read_text(encoding="utf-8")
