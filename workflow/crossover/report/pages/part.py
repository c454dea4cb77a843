"""A part of a page. One that fails is a hole with its reason, and the other parts are made all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeAlias, TypeVar

from IPython.display import Markdown

from crossover.records import failure
from crossover.records.failure import Failure
from crossover.report.charts import gallery
from crossover.report.render import inputs


class AnyPage:
    """What the code cells of every page show, whatever its folder holds. `command` makes the page."""

    def __init__(self, folder: Path | None, command: str):
        self.folder = folder or inputs.results(command)
        self.failures = [*failure.within(self.folder), *inputs.failures()]

    def script(self) -> Markdown:
        """What draws the charts, and how they look."""
        return Markdown(gallery.script())

    def failed(self) -> Markdown:
        """What the page lacks because it failed."""
        return Markdown(callout(self.failures))


P = ParamSpec("P")
OnPage = TypeVar("OnPage", bound=AnyPage)

Method: TypeAlias = Callable[Concatenate[OnPage, P], Markdown]

OF_EXPERIMENT = "of the experiment"
"""In place of the name of a table: all tables of the experiment that the part is about."""


def part(*tables: str) -> Callable[[Method[OnPage, P]], Method[OnPage, P]]:
    """Make a method of a page a part of it.

    It begins with the reasons for those of its `tables` that failed. Its argument, if it has one, is an experiment.
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
    """Make a method of a page a part of a sentence: plain text."""

    @wraps(method)
    def shown(page: OnPage, /) -> str:
        with _kept(method.__name__, "") as failed:
            return method(page)
        return f"({_reason(failed[0])})".replace("`", "")

    return shown


@contextmanager
def _kept(name: str, experiment: str) -> Iterator[list[Failure]]:
    """Keep a failure from ending the page. The renderer gets it, for the top of the page."""
    with failure.caught("section", name, experiment) as failed:
        yield failed
    inputs.add(failed)


def _reason(failed: Failure) -> str:
    return f"This part of the page failed: {failure.reason(failed)}."


def _missing(each: Failure, tables: Sequence[str], experiment: str) -> str:
    """The reason for a hole in a part of the page, if this failure leaves one there."""
    own = each.experiment == experiment and OF_EXPERIMENT in tables
    if each.kind != "table" or not (own or each.name in tables):
        return ""
    return f"**Missing.** The {failure.names([each], '`')} failed: {failure.reason(each)}."


def callout(failures: Sequence[Failure]) -> str:
    """All failures in a box, for the top of the page; empty if there are none."""
    if not failures:
        return ""
    return (
        "::: {.callout-important}\nParts of this run failed, so this page lacks them. All else was made.\n\n"
        f"{listed(failures)}\n\nThis is probably a fault of crossover: please report it, with the traceback from the "
        "folder `logs` of the results. The command that made this page tries again what failed.\n:::"
    )


def listed(failures: Sequence[Failure]) -> str:
    """An item for each cause, with all that it made fail."""
    return "\n".join(
        f"- {_capital(failure.names(group, '`'))}: {failure.reason(cause)}."
        for cause, group in failure.grouped(failures).items()
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
