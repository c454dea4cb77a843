"""What the cells of a page share.

The renderer passes its inputs to the cells of a page through environment variables.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from IPython.display import Markdown

from crossover.errors import CrossoverError
from crossover.report.charts import gallery
from crossover.report.text import markup

RESULTS_VARIABLE = "CROSSOVER_RESULTS"
"""The environment variable that names the results folder for the cells of a page."""

WAITING_VARIABLE = "CROSSOVER_WAITING"
"""The variable for measurements of other runs, as JSON: {"hosts": {experiment: {placement: hosts needed}},
"too_few_nodes": why a cluster has too few hosts, or "", "withheld": {arm of a farm that does not authenticate:
[experiments]}, "partial": [remark, ...]}. The remarks list the launches that a partial run uses and leaves out."""


def part(method: Callable[..., str]) -> Callable[..., Markdown]:
    """Make a method of a page, which returns Markdown as text, a cell's output; its argument is an experiment."""

    @wraps(method)
    def shown(page: AnyPage, *experiment: str) -> Markdown:
        return Markdown(method(page, *experiment))

    return shown


class AnyPage:
    """The code cells of a page that depend on no table."""

    def __init__(self, folder: Path | None):
        self.folder = folder or _results()

    def script(self) -> Markdown:
        """The script and the styles of the charts."""
        return Markdown(gallery.script_element())

    def fold(self, shown: Markdown, about: str, caption: str = "", name: str = "") -> Markdown:
        """A part of the page, folded behind the line `about` and its number of rows.

        With a `caption` it is a numbered table, to which references and addresses use `name`. One without rows is a
        short reason, and is shown as it is.
        """
        text = str(shown.data)
        rows = markup.entries(text)
        if not rows:
            return shown
        body = f"::: {{#tbl-{name}}}\n\n{text}\n\n{caption}\n\n:::" if caption else text
        return Markdown(markup.folded(f"{about}: {rows}", body))


def _results() -> Path:
    """The folder of results of the page: the variable's, or that of a run in this folder, if Quarto is called by hand.

    Raises CrossoverError.
    """
    beside = Path("../results")
    folder = os.environ.get(RESULTS_VARIABLE) or (str(beside) if (beside / "launches.parquet").exists() else "")
    if not folder:
        raise CrossoverError(f"{RESULTS_VARIABLE} is not set; make the page with: crossover report RESULTS --page PAGE")
    return Path(folder)


def waiting() -> dict[str, Any]:
    """The measurements of other runs, as WAITING_VARIABLE describes them."""
    found: dict[str, Any] = json.loads(os.environ.get(WAITING_VARIABLE) or "{}")
    return found
