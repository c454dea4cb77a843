"""Parts of pages: a part that fails becomes a hole with its reason, and the others are still made.

The renderer passes its inputs to the cells of a page through environment variables.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

from IPython.display import Markdown

from crossover.errors import CrossoverError
from crossover.records import failure
from crossover.records.failure import Failure
from crossover.report.charts import gallery
from crossover.report.text import markup, numbers

OF_EXPERIMENT = "of the experiment"
"""In place of the name of a table: all tables of the part's experiment."""

MISSING = "**Missing.**"
"""The beginning of a paragraph in place of a part that failed."""

RESULTS_VARIABLE = "CROSSOVER_RESULTS"
"""The environment variable that names the results folder for the cells of a page."""

WAITING_VARIABLE = "CROSSOVER_WAITING"
"""The variable for measurements of other runs, as JSON: {"tiers": {experiment: {tier: {key: entries}}}, "hosts":
{experiment: {placement: hosts needed}}, "too_few_nodes": why a cluster has too few hosts, or "",
"withheld": {arm of a farm that does not authenticate: [experiments]}, "partial": [remark, ...]}. The remarks
list the launches that a partial run uses and leaves out."""

FAILURES_VARIABLE = "CROSSOVER_FAILURES"
"""The variable with the name of the JSON file of a page's failed parts."""


def part(*tables: str) -> Callable[[Callable[..., str]], Callable[..., Markdown]]:
    """Make a method of a page, which returns Markdown as text, a part of the page.

    The part begins with the reasons for failed `tables`. The method's argument, if it has one, is an experiment.
    """

    def of(method: Callable[..., str]) -> Callable[..., Markdown]:
        @wraps(method)
        def shown(page: AnyPage, experiment: str = "") -> Markdown:
            made, fault = _tried(method, page, experiment)
            missing = (_missing_table(each, tables, experiment) for each in page.failures)
            return Markdown("\n\n".join(filter(None, [*missing, f"{MISSING} {fault}" if fault else made])))

        return shown

    return of


def sentence(method: Callable[[Any], str]) -> Callable[[Any], str]:
    """Make a method of a page a part of a sentence, as plain text."""

    @wraps(method)
    def shown(page: AnyPage) -> str:
        made, fault = _tried(method, page, "")
        return f"({fault})".replace("`", "") if fault else made

    return shown


def _tried(method: Callable[..., str], page: AnyPage, experiment: str) -> tuple[str, str]:
    """The text of a part, and the reason if it fails; the renderer gets the failure for the top of the page."""
    with failure.caught("section", method.__name__, experiment) as failed:
        return method(page, experiment) if experiment else method(page), ""
    _pass_on(failed)
    return "", f"This part of the page failed: {failure.reason(failed[0])}."


def _missing_table(each: Failure, tables: Sequence[str], experiment: str) -> str:
    """The sentence about this failure, if it concerns this part of the page; otherwise empty."""
    own = each.experiment == experiment and OF_EXPERIMENT in tables
    if each.kind != "table" or not (own or each.name in tables):
        return ""
    return f"{MISSING} The {failure.names([each], '`')} failed: {failure.reason(each)}."


def listed(failures: Sequence[Failure]) -> str:
    """An item for each cause, with all parts that failed from it."""
    return "\n".join(
        f"- {markup.capitalized(failure.names(group, '`'))}: {failure.reason(cause)}."
        for cause, group in failure.grouped(failures).items()
    )


class AnyPage:
    """The code cells of a page that depend on no table."""

    def __init__(self, folder: Path | None):
        self.folder = folder or _results()
        self.failures = [*failure.within(self.folder), *_failures()]

    def script(self) -> Markdown:
        """The script and the styles of the charts."""
        return Markdown(gallery.script_element())

    def failed(self) -> Markdown:
        """All failed parts of the run and of this page in a box; empty if there are none."""
        if not self.failures:
            return Markdown("")
        return Markdown(
            "::: {.callout-important}\nParts of this run failed and are missing on this page; the rest is complete.\n\n"
            f"{listed(self.failures)}\n\nThis is probably a bug in crossover: please report it, with the traceback "
            "from the folder `logs` of the results. To retry the failed parts, repeat the command that made this "
            "page.\n:::"
        )

    def fold(self, shown: Markdown, about: str, caption: str = "", name: str = "") -> Markdown:
        """A part of the page, folded behind the line `about` and its number of rows.

        With a `caption` it is a numbered table, to which references and addresses use `name`. A part that failed is
        unfolded; one without rows is a short reason, and is shown as it is.
        """
        text = str(shown.data)
        rows = markup.entries(text)
        if not rows:
            return shown
        body = f"::: {{#tbl-{name}}}\n\n{text}\n\n{caption}\n\n:::" if caption else text
        return Markdown(markup.folded(f"{about}: {rows}", body, unfolded=MISSING in text))

    @sentence
    def odds(self) -> str:
        """The number of tests or intervals of which chance makes one wrong."""
        return numbers.odds()


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


def _failures() -> list[Failure]:
    """The parts of the page that failed in the previous rendering, and those that have failed since."""
    path = os.environ.get(FAILURES_VARIABLE)
    return failure.of(Path(path)) if path else []


def _pass_on(failed: Sequence[Failure]) -> None:
    """Pass failed parts of the page to the renderer."""
    if failed and (path := os.environ.get(FAILURES_VARIABLE)):
        Path(path).write_text(json.dumps(failure.stored([*_failures(), *failed])), encoding="utf-8")
