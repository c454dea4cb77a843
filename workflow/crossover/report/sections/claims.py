"""The verdicts on the claims of others: their number, a table, and a paragraph for each source."""

from __future__ import annotations

import json
from collections.abc import Sequence

from crossover.report.base import markup, numbers
from crossover.report.base.tables import Row
from crossover.report.sentences import citations

VERDICTS = {
    "holds": ("holds", "hold"),
    "refuted": ("is refuted", "are refuted"),
    "inconclusive": ("is inconclusive", "are inconclusive"),
    "not measured": ("was not measured", "were not measured"),
    "not judged": ("was not judged", "were not judged"),
}
"""Each verdict as the predicate of one claim, and of several."""

DECIDED = ("holds", "refuted")
HEADER = ["claim", "verdict", "measured", "expected", "its own data"]
OWN = {"agrees": "Its own data agrees", "contradicts": "Its own data says otherwise"}


def counts(claims: Sequence[Row]) -> str:
    """How many claims there are, of which there must be one, and how many of each verdict."""
    told = numbers.tally([row["verdict"] for row in claims], VERDICTS)
    return f"Of {numbers.counted(len(claims), 'published claim')} {told}.{_contradictions(claims)}"


def _contradictions(claims: Sequence[Row]) -> str:
    """How many claims are at odds with what was published beside them."""
    told = [row for row in claims if row["own"] in OWN]
    wrong = [row for row in told if row["own"] == "contradicts"]
    if not told:
        return ""
    return f" Of {len(told)} that came with data of their own, {len(wrong)} {_is(wrong)} contradicted by it."


def _is(rows: Sequence[Row]) -> str:
    return "is" if len(rows) == 1 else "are"


def table(claims: Sequence[Row]) -> str:
    """A line for each claim; those on which this run does not decide are folded away, unless that is all."""
    decided, left = ([row for row in claims if (row["verdict"] in DECIDED) is wanted] for wanted in (True, False))
    parts = [markup.pipe_table(HEADER, lines(decided))] if decided else []
    if left:
        about = f"{numbers.counted(len(left), 'claim')} on which this run does not decide"
        parts.append(markup.folded(about, markup.pipe_table(HEADER, lines(left)), unfolded=not decided))
    return "\n\n".join(parts)


def lines(claims: Sequence[Row]) -> list[list[str]]:
    """A line for each claim, under HEADER."""
    return [[_words(row), row["verdict"], _measured(row) or "–", _expected(row), _own(row) or "–"] for row in claims]


def _words(row: Row) -> str:
    return f"{row['says'].strip()} (`{row['claim']}`, {citations.cite(row['source'])})"


def paragraphs(claims: Sequence[Row]) -> list[str]:
    """A heading for each source, and under it an item for each of its claims."""
    sources = dict.fromkeys(row["source"] for row in claims)
    return [
        "\n".join(
            [citations.reference(source), "", *(f"- {sentences(row)}" for row in claims if row["source"] == source)]
        )
        for source in sources
    ]


def sentences(row: Row) -> str:
    """What was claimed, in whose words, what was found, under which conditions, and what the claim's own data says."""
    head = f"`{row['claim']}`: *{row['says'].strip()}* {_quoted(row)}"
    if row["verdict"] in ("not measured", "not judged"):
        found = f"**{row['verdict'].capitalize()}**: {row['reason']}."
    else:
        found = (
            f"**{row['verdict'].capitalize()}**: {row['reason']}. {_claimed(row)}; found was "
            f"{_measured(row) or 'no place'}{_where(row)}. {_conditions(row)}"
        )
    how = f"Method: {row['method']}" if row["method"] else ""
    return " ".join(filter(None, [head, found, _sensitivity(row), _otherwise(row), how]))


def _quoted(row: Row) -> str:
    """The source's own words, and where they are."""
    return f"In its words: “{markup.verbatim(row['quote'])}” ([{markup.verbatim(row['locator'])}]({row['url']}))."


def _measured(row: Row) -> str:
    if row["value"] is None:
        return ""
    bound = "at least " if row["at_least"] else ""
    if row["low"] is None or row["high"] is None:
        return f"{bound}{_number(row['value'], row)}{_times(row)}"
    return f"{bound}{_number(row['value'], row)} [{_number(row['low'], row)}, {_number(row['high'], row)}]{_times(row)}"


def _number(value: float, row: Row) -> str:
    """A number in the unit of the claim's quantity; what are times is said after the interval."""
    unit = row["unit"] or ""
    if unit in ("", "µs", "times"):
        return f"{numbers.significant(value)} {'' if unit == 'times' else unit}".strip()
    return numbers.quantity(value, unit)


def _expected(row: Row) -> str:
    low, high = (end if end is None else _number(end, row) for end in (row["expected_low"], row["expected_high"]))
    if low is None and high is None:
        return "–"
    if low is None or high is None:
        return f"at most {high}{_times(row)}" if low is None else f"at least {low}{_times(row)}"
    return f"{low} to {high}{_times(row)}"


def _claimed(row: Row) -> str:
    """What the claim says, and what is taken for it."""
    if row["published"] is None:
        return f"Expected is {_expected(row)}"
    return f"Claimed is about {_number(row['published'], row)}{_times(row)}, taken as {_expected(row)}"


def _where(row: Row) -> str:
    """Which of several numbers is told."""
    against = f" against `{row['arm']}`" if row["arm"] else ""
    if row["numbers"] < 2:
        return against
    place = f" at {numbers.quantity(row['x'], row['axis_unit'])}" if row["x"] is not None else ""
    return f"{place}{against}, which speaks most against it of {numbers.counted(row['numbers'], 'number')}"


def _conditions(row: Row) -> str:
    """Under which of our conditions it was judged."""
    launches = numbers.counted(row["launches"], "launch")
    curves = [
        f"{curve['metric']} of `{curve['experiment']}`, {curve['protocol']} (placement `{curve['placement']}`)"
        for curve in json.loads(row["rows"])
    ]
    return f"That is from {numbers.listed(list(dict.fromkeys(curves)))}, over {launches}."


def _sensitivity(row: Row) -> str:
    """How small a difference could have been seen."""
    if row["smallest_effect"] is None:
        return ""
    if row["scale"] == "log":
        return f"Equal arms were seen to differ by a factor of {numbers.significant(row['smallest_effect'])} there."
    return f"Equal arms could make up {_number(row['smallest_effect'], row)} of it."


def _own(row: Row) -> str:
    return "" if row["own_value"] is None else f"{row['own']}: {_number(row['own_value'], row)}{_times(row)}"


def _otherwise(row: Row) -> str:
    """What the source's own data says of its claim."""
    if row["own"] not in OWN:
        return ""
    place = f" at {numbers.quantity(row['own_x'], row['axis_unit'])}" if row["own_x"] and row["numbers"] > 1 else ""
    return f"{OWN[row['own']]}: {_number(row['own_value'], row)}{_times(row)}{place}."


def _times(row: Row) -> str:
    return " times" if row["unit"] == "times" else ""
