"""The start of the page: what to do, in a few sentences; then the data behind them."""

from collections.abc import Mapping

from crossover.report.text import certainty, choices, numbers
from crossover.report.text.tables import Tables

MOST = 6
"""The most questions that are answered first; the map has all."""

NOTHING = (
    "Nothing to choose: no arms could be compared with an interval. More `launches` in `config/config.yaml` give one."
)

METHOD = "@sec-method explains the method, @sec-machine lists the hardware and software."


def sentences(tables: Tables, leads: Mapping[str, str], partial: bool = False) -> str:
    """A list of choices and a paragraph on the data, in Markdown.

    The page of a `partial` run uses the launches that exist.
    """
    if not tables.launches:
        return "Nothing was launched."
    asked = choices.asked(tables)
    decided = "\n".join(f"- {question.sentence}" for question in asked[:MOST]) or NOTHING
    taken = "This page is partial: @sec-holes lists the launches that it leaves out." if partial else ""
    said = [
        _coverage(tables),
        taken,
        certainty.busy(tables.launches, tables.ranks),
        certainty.bias(tables, leads),
        choices.settled(asked),
        METHOD,
    ]
    return f"{decided}\n\n{' '.join(filter(None, said))}"


def _coverage(tables: Tables) -> str:
    measured = [row for row in tables.launches if row["outcome"] == "measured"]
    total = numbers.counted(len(tables.launches), "launch")
    count = numbers.counted(len(tables.holes()), "hole")
    gaps = f"; {count} {'is' if len(tables.holes()) == 1 else 'are'} listed in @sec-holes" if tables.holes() else ""
    return f"{len(measured)} of {total} have data{gaps}."
