"""Parts of pages: a part that fails becomes a hole with its reason, and the others are still made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

from IPython.display import Markdown

from crossover.records import failure
from crossover.records.failure import Failure
from crossover.report.charts import gallery
from crossover.report.render import inputs
from crossover.report.text import markup, numbers

OF_EXPERIMENT = "of the experiment"
"""In place of the name of a table: all tables of the part's experiment."""

MISSING = "**Missing.**"
"""The beginning of a paragraph in place of a part that failed."""


def part(*tables: str) -> Callable[[Callable[..., str]], Callable[..., Markdown]]:
    """Make a method of a page, which returns Markdown as text, a part of the page.

    The part begins with the reasons for failed `tables`. The method's argument, if it has one, is an experiment.
    """

    def of(method: Callable[..., str]) -> Callable[..., Markdown]:
        @wraps(method)
        def shown(page: AnyPage, experiment: str = "") -> Markdown:
            made, fault = _tried(method, page, experiment)
            missing = (_missing(each, tables, experiment) for each in page.failures)
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
    inputs.add(failed)
    return "", f"This part of the page failed: {failure.reason(failed[0])}."


def _missing(each: Failure, tables: Sequence[str], experiment: str) -> str:
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
    """The code cells that every page has, for any folder. `command` makes the page."""

    def __init__(self, folder: Path | None, command: str):
        self.folder = folder or inputs.results(command)
        self.failures = [*failure.within(self.folder), *inputs.failures()]

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
