"""The start of the page: what to do, in at most five sentences; then the data behind them."""

from collections.abc import Mapping

from crossover.report.base import numbers
from crossover.report.base.tables import Tables
from crossover.report.sentences import decisions, noise
from crossover.report.sentences.winners import pairs

METHOD = "@sec-method explains the method, @sec-machine lists the hardware and software."


def sentences(tables: Tables, leads: Mapping[str, str], partial: bool = False) -> str:
    """A list of decisions and a paragraph on the data, in Markdown.

    The page of a `partial` run uses the launches that exist.
    """
    if not tables.launches:
        return "Nothing was launched."
    panels = tables.all_leading(leads)
    decided = "\n".join(f"- {each}" for each in decisions.sentences(tables.recommendations, pairs(panels)))
    taken = "This page is partial: @sec-holes lists the launches that it leaves out." if partial else ""
    said = [
        _coverage(tables),
        taken,
        noise.busy(tables.launches, tables.ranks),
        noise.sentence(tables, leads),
        noise.known(pairs(panels)),
        METHOD,
    ]
    return f"{decided}\n\n{' '.join(filter(None, said))}"


def _coverage(tables: Tables) -> str:
    measured = [row for row in tables.launches if row["outcome"] == "measured"]
    total = numbers.counted(len(tables.launches), "launch")
    count = numbers.counted(len(tables.holes()), "hole")
    gaps = f"; {count} {'is' if len(tables.holes()) == 1 else 'are'} listed in @sec-holes" if tables.holes() else ""
    return f"{len(measured)} of {total} have data{gaps}."
