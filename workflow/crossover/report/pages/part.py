"""Parts of pages: a part that fails becomes a hole with its reason, and the others are still made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeAlias, TypeVar

from IPython.display import Markdown

from crossover.records import failure
from crossover.records.failure import Failure
from crossover.report.base.markup import capitalized
from crossover.report.charts import gallery
from crossover.report.render import inputs
from crossover.report.sentences import chance

P = ParamSpec("P")
OnPage = TypeVar("OnPage", bound="AnyPage")

Method: TypeAlias = Callable[Concatenate[OnPage, P], Markdown]

OF_EXPERIMENT = "of the experiment"
"""In place of the name of a table: all tables of the part's experiment."""


def part(*tables: str) -> Callable[[Method[OnPage, P]], Method[OnPage, P]]:
    """Make a method of a page a part of it.

    The part begins with the reasons for failed `tables`. The method's argument, if it has one, is an experiment.
    """

    def of(method: Method[OnPage, P]) -> Method[OnPage, P]:
        @wraps(method)
        def shown(page: OnPage, /, *args: P.args, **kwargs: P.kwargs) -> Markdown:
            experiment = str(args[0]) if args else ""
            with _kept(method.__name__, experiment) as failed:
                made = str(method(page, *args, **kwargs).data)
            if failed:
                made = f"**Missing.** {_reason(failed[0])}"
            missing = (_missing(each, tables, experiment) for each in page.failures)
            return Markdown("\n\n".join(filter(None, [*missing, made])))

        return shown

    return of


def sentence(method: Callable[[OnPage], str]) -> Callable[[OnPage], str]:
    """Make a method of a page a part of a sentence, as plain text."""

    @wraps(method)
    def shown(page: OnPage, /) -> str:
        with _kept(method.__name__, "") as failed:
            return method(page)
        return f"({_reason(failed[0])})".replace("`", "")

    return shown


@contextmanager
def _kept(name: str, experiment: str) -> Iterator[list[Failure]]:
    """Catch a failure, and pass it to the renderer for the top of the page."""
    with failure.caught("section", name, experiment) as failed:
        yield failed
    inputs.add(failed)


def _reason(failed: Failure) -> str:
    return f"This part of the page failed: {failure.reason(failed)}."


def _missing(each: Failure, tables: Sequence[str], experiment: str) -> str:
    """The sentence about this failure, if it concerns this part of the page; otherwise empty."""
    own = each.experiment == experiment and OF_EXPERIMENT in tables
    if each.kind != "table" or not (own or each.name in tables):
        return ""
    return f"**Missing.** The {failure.names([each], '`')} failed: {failure.reason(each)}."


def callout(failures: Sequence[Failure]) -> str:
    """All failures in a box, for the top of the page; empty if there are none."""
    if not failures:
        return ""
    return (
        "::: {.callout-important}\nParts of this run failed and are missing on this page; the rest is complete.\n\n"
        f"{listed(failures)}\n\nThis is probably a bug in crossover: please report it, with the traceback from the "
        "folder `logs` of the results. To retry the failed parts, repeat the command that made this page.\n:::"
    )


def listed(failures: Sequence[Failure]) -> str:
    """An item for each cause, with all parts that failed from it."""
    return "\n".join(
        f"- {capitalized(failure.names(group, '`'))}: {failure.reason(cause)}."
        for cause, group in failure.grouped(failures).items()
    )


class AnyPage:
    """The code cells that every page has, for any folder. `command` makes the page."""

    def __init__(self, folder: Path | None, command: str):
        self.folder = folder or inputs.results(command)
        self.failures = [*failure.within(self.folder), *inputs.failures()]

    def script(self) -> Markdown:
        """The script and the styles of the charts."""
        return Markdown(gallery.script())

    def failed(self) -> Markdown:
        """The failed parts of the run and of this page."""
        return Markdown(callout(self.failures))

    @sentence
    def odds(self) -> str:
        """The number of tests or intervals of which chance makes one wrong."""
        return chance.odds()
