"""The map of a run: for each pair of arms, the winner at each part of the axis, in colour.

Pairs with the same unit of the axis share a chart. Lengths of arrays are drawn in bytes, beside messages.
"""

import math
import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import altair as alt

from crossover.records import failure
from crossover.report.base import numbers, questions
from crossover.report.base.tables import Panel, Row, Tables, rows, slug
from crossover.report.charts import axes, export, figures, marks
from crossover.report.charts.colours import ARMS, GROUND, INK, NOISE
from crossover.report.charts.ladder import UNIT_BYTES
from crossover.report.sentences.winners import OPEN, Pair, outcome, pairs

NAME = "map"

STRONG = math.log(8)
"""The factor, as a logarithm, from which a colour has its full strength."""
WEAK = 0.25
"""The strength of the smallest difference."""

LETTERS = 62
"""The most characters of a line of words; on a phone, more would not fit."""
ROW = 56
"""The height of a pair in pixels: two lines of words and its strip."""
STRIP, LINE = 18, 14
"""The heights of a strip and of a line of words."""

RIVAL, REFERENCE = ARMS[0], ARMS[1]
"""The colours of the two sides of a pair."""


def groups(found: Sequence[Panel]) -> dict[str, list[Pair]]:
    """The pairs by the unit of their charts' axis, the strongest first, those of one experiment together."""
    grouped: dict[str, list[Pair]] = {}
    every = pairs(found)
    order = list(dict.fromkeys(pair.panel.experiment for pair in every))
    for pair in sorted(every, key=lambda pair: order.index(pair.panel.experiment)):
        unit = pair.panel.facts["axis_unit"]
        grouped.setdefault("bytes" if unit in UNIT_BYTES else unit, []).append(pair)
    return grouped


def file(unit: str) -> str:
    """The name of the chart of a unit."""
    return slug(f"{NAME} {unit}")


def draw(results: Path, folder: Path, leads: Mapping[str, str]) -> None:
    """Write the charts of the map, from the joined tables in `results`, to `folder`.

    If this fails, the folder keeps the reason.
    """
    charts = {}
    with failure.caught("figure", NAME) as failures:
        launches, *measured = (rows(results, name) for name in ("launches", "summary", "ratios", "crossovers"))
        # The same choice as the page's, which falls back to another metric if the leading one was not measured.
        leading = Tables(launches, [], *measured).all_leading(leads)
        names = questions.names(leading)
        charts = {file(unit): partial(chart, own, names) for unit, own in groups(leading).items()}
    export.draw(charts, folder, failures=failures)


def chart(own: Sequence[Pair], names: Mapping[questions.Name, str]) -> alt.LayerChart:
    """The strips of pairs whose axes share a unit."""
    unit = "bytes" if own[0].panel.facts["axis_unit"] in UNIT_BYTES else own[0].panel.facts["axis_unit"]
    cells = [cell for number, pair in enumerate(own) for cell in _cells(number, pair, names)]
    start = min(cell["x0"] for cell in cells)
    words = [
        {"row": number, "x0": start, "line": line, "text": text}
        for number, pair in enumerate(own)
        for line, text in enumerate((_cut(outcome(pair)), question(pair, names)))
    ]
    places = [place for number, pair in enumerate(own) if (place := _place(number, pair))]
    low, high = min(cell["x0"] for cell in cells), max(cell["x1"] for cell in cells)
    measured = sorted({cell["x"] for cell in cells})
    ticks = axes.round_ticks(measured)
    shown = "~s" if unit in numbers.SCALED_UNITS else ","
    axis = alt.Axis(values=ticks, format=shown, grid=False, labelOverlap="greedy")
    x = alt.X(
        "x0:Q",
        title=axes.title(own[0].panel.facts["axis"] if unit != "bytes" else "size", unit),
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=axis,
    )
    y = alt.Y(
        "row:O",
        axis=None,
        scale=alt.Scale(domain=list(range(len(own))), paddingInner=1 - STRIP / ROW, paddingOuter=0.5),
    )
    base = alt.Chart()
    tips = marks.tips({"name": "question", "at": "at", "is": "ratio", "winner": "winner", "launches": "launches"})
    strips: alt.Chart = (
        base.properties(name="points")
        .mark_rect(stroke=GROUND.light, strokeWidth=1)
        .encode(
            x=x, x2="x1:Q", y=y, tooltip=tips,
            fill=alt.Fill("side:N", legend=None, scale=alt.Scale(
                domain=["rival", "reference", OPEN], range=[RIVAL.light, REFERENCE.light, "transparent"])),
            fillOpacity=alt.FillOpacity("strength:Q", legend=None, scale=None),
        )
    )  # fmt: skip
    undecided = (
        base.transform_filter(f"datum.side === '{OPEN}'")
        .mark_rect(filled=False, stroke=NOISE.light, strokeDash=[3, 3], strokeWidth=1)
        .encode(x=x, x2="x1:Q", y=y)
    )
    texts = [
        alt.Chart(alt.Data(values=words))
        .transform_filter(f"datum.line === {line}")
        .mark_text(
            align="left",
            baseline="bottom",
            dy=-STRIP / 2 - 2 - LINE * line,
            fontWeight="bold" if line else "normal",
            color=INK.light,
        )
        .encode(x=x, y=y, text="text:N")
        for line in (0, 1)
    ]
    crossed = alt.Chart(alt.Data(values=places))
    intervals = crossed.mark_rule(strokeWidth=3, color=INK.light)
    points = crossed.mark_point(filled=True, size=60, opacity=1, color=INK.light, shape="diamond")
    layers = [
        strips,
        undecided,
        intervals.encode(x=x, x2="x1:Q", y=y),
        points.encode(x=alt.X("place:Q"), y=y),
        *texts,
    ]
    columns = [(name, name) for name in ("name", "x", "ratio", "low", "high", "winner", "launches")]
    return figures.finished(layers, cells, columns, "", SUBTITLE, height=ROW * len(own))


CAPTION = (
    "Who wins where, in the leading metric of each experiment. Each strip is a pair of arms along its axis: blue where "
    "the first named wins, orange where the second wins, stronger for a larger factor, dashed where the interval "
    "contains 1. A diamond with its bar is a crossover with its interval."
)
SUBTITLE = "blue: the first named wins; orange: the second wins; stronger: by a larger factor; dashed: open"


def _cells(number: int, pair: Pair, names: Mapping[questions.Name, str]) -> list[Row]:
    """The data of a strip: each cell reaches to the middle between it and its neighbours."""
    cells = pair.cells
    scale = UNIT_BYTES.get(cells[0]["axis_unit"], 1)
    places = [scale * cell["x"] for cell in cells]
    steps = [math.sqrt(high / low) for low, high in pairwise(places)] or [2.0]
    ends = [places[0] / steps[0], *(math.sqrt(low * high) for low, high in pairwise(places))]
    ends.append(places[-1] * steps[-1])
    return [
        {
            "arm": "pairs",
            "row": number,
            "name": question(pair, names),
            "x": place, "x0": ends[index], "x1": ends[index + 1],
            "side": _side(pair, cell), "strength": _strength(pair, cell), "winner": pair.winner(cell),
            "ratio": cell["ratio"], "low": cell["low"], "high": cell["high"], "launches": cell["launches"],
            "at": numbers.quantity(cell["x"], cell["axis_unit"]),
            "is": f"{pair.arm} / {pair.panel.reference}: {numbers.ratio(cell['ratio'], cell['low'], cell['high'])}",
        }
        for index, (cell, place) in enumerate(zip(cells, places, strict=True))
    ]  # fmt: skip


def _side(pair: Pair, cell: Row) -> str:
    winner = pair.winner(cell)
    return OPEN if winner == OPEN else "rival" if winner == pair.arm else "reference"


def _strength(pair: Pair, cell: Row) -> float:
    if pair.winner(cell) == OPEN:
        return 0.0
    return round(min(WEAK + (1 - WEAK) * abs(math.log(cell["ratio"])) / STRONG, 1), 2)


def _place(number: int, pair: Pair) -> dict[str, Any] | None:
    """The data of a crossover with its interval; None without one."""
    row = pair.panel.crossover_of(pair.arm)
    if pair.verdict != "one" or row is None or row["x"] is None:
        return None
    scale = UNIT_BYTES.get(row["axis_unit"], 1)
    low, high = (scale * (row["x"] if row[end] is None else row[end]) for end in ("low", "high"))
    return {"row": number, "place": scale * row["x"], "x0": low, "x1": high}


def question(pair: Pair, names: Mapping[questions.Name, str]) -> str:
    """The question that a strip answers."""
    return f"{names[questions.name(pair.panel)]}: {pair.arm} or {pair.panel.reference}?"


def words(pair: Pair, names: Mapping[questions.Name, str]) -> str:
    """The question and its answer in one line."""
    return f"{question(pair, names)} {outcome(pair)}"


def _cut(text: str) -> str:
    return textwrap.shorten(text, LETTERS, placeholder=" ...")
