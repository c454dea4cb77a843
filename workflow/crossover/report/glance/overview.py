"""The map of a run: for each pair of arms, the winner at each part of the axis, in colour.

Pairs with the same unit of the axis share a chart. Lengths of arrays are drawn in bytes, beside messages.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from statistics import fmean
from textwrap import shorten
from typing import Any

import altair as alt

from crossover.config import published
from crossover.experiments import declared, subject
from crossover.records import failure
from crossover.records.outcome import ALIKE, OPEN, Outcome
from crossover.report.base import numbers, questions
from crossover.report.base.tables import Panel, Row, Tables, rows, slug
from crossover.report.charts import axes, export, marks, overlay
from crossover.report.charts.colours import ARMS, GRID, GROUND, INK, NOISE, Colour, variable
from crossover.report.glance import rows as strips
from crossover.report.sentences.winners import Pair, in_bytes, outcome, pairs

NAME = "map"

STRONG = math.log(8)
"""The factor, as a logarithm, from which a colour has its full strength."""
WEAK = 0.25
"""The strength of the smallest difference."""
SHOWN_FACTORS = (1.2, 2, 8)
"""The factors in the legend."""

RIVAL, REFERENCE = ARMS[0], ARMS[1]
"""The colours of the two sides of a pair."""

"""The heading of each experiment's rows, by the start of its name."""
OTHERS = "Other experiments"

REASON_CHARACTERS = 60
"""The most characters of a reason in a row; the section has all of it."""

CAPTION = (
    "Who wins where, in the leading metric of each experiment. Each strip is a pair of arms along its axis: blue where "
    "the first named wins, orange with white bars where the second wins, stronger for a larger factor, grey where "
    "both are alike, grey bars where it is open: chance or possible bias could explain the difference. A diamond with "
    "its line is a crossover with its interval; a hollow one was published for the same conditions."
)
SUBTITLE = (
    "blue: the first named wins; orange, barred: the second; stronger: by a larger factor; grey: alike; barred: open; "
    "diamond: crossover, with its interval; hollow: published"
)
HINT = "Point at a cell for its ratio and interval; click a row for its section."


def groups(found: Sequence[Panel]) -> dict[str, list[Pair]]:
    """The pairs by the unit of their charts' axis; within a unit by library, the strongest first."""
    grouped: dict[str, list[Pair]] = {}
    every = pairs(found)
    order = list(dict.fromkeys(library(pair.panel.experiment) for pair in every))
    for pair in sorted(every, key=lambda pair: order.index(library(pair.panel.experiment))):
        unit = pair.panel.facts["axis_unit"]
        grouped.setdefault("bytes" if unit in numbers.UNIT_BYTES else unit, []).append(pair)
    return grouped


def library(experiment: str) -> str:
    """The heading of an experiment's rows."""
    return declared()[experiment].library if experiment in declared() else OTHERS


def missing(tables: Tables, leads: Mapping[str, str]) -> list[tuple[str, str]]:
    """The name of each experiment that was launched and has no pair, with the reason; both without Markdown."""
    compared = {pair.panel.experiment for pair in pairs(tables.all_leading(leads))}
    found = []
    for name in tables.experiments:
        if name not in compared:
            holes = tables.holes(name)
            reason = "not measured; no arm was compared with another"
            if holes:
                failed = numbers.counted(len(holes), "launch")
                short = shorten(f"{holes[0]['hole']}, {holes[0]['reason']}", REASON_CHARACTERS, placeholder=" ...")
                reason = f"not measured; {failed} failed: {short}"
            found.append((subject(name), reason))
    return found


def file(unit: str) -> str:
    """The name of the chart of a unit."""
    return slug(f"{NAME} {unit}")


def draw(results: Path, folder: Path, leads: Mapping[str, str]) -> None:
    """Write the charts of the map, from the joined tables in `results`, to `folder`.

    If this fails, the folder keeps the reason.
    """
    charts = {}
    with failure.caught("figure", NAME) as failures:
        launches, summary, ratios, crossovers = (
            rows(results, name) for name in ("launches", "summary", "ratios", "crossovers")
        )
        tables = Tables(launches, [], summary, ratios, crossovers)
        # The same choice as the page's, which falls back to another metric if the leading one was not measured.
        leading = tables.all_leading(leads)
        names, datasets = questions.names(leading), published.read()
        gaps = missing(tables, leads)
        charts = {
            # The experiments without a pair have no axis, so that they stand below the first chart.
            file(unit): partial(chart, own, names, datasets, () if number else gaps)
            for number, (unit, own) in enumerate(groups(leading).items())
        }
    export.draw(charts, folder, failures=failures)


def chart(
    own: Sequence[Pair],
    names: Mapping[questions.Name, str],
    datasets: Sequence[published.Dataset] = (),
    gaps: Sequence[tuple[str, str]] = (),
) -> alt.LayerChart:
    """The strips of pairs whose axes share a unit, then the words of the `gaps`, in which nothing was measured."""
    layout = strips.Layout()
    data: list[Row] = []
    for heading, group in groupby(own, key=lambda pair: library(pair.panel.experiment)):
        data += layout.heading(heading)
        for pair in group:
            asked, told = _short(pair, question(pair, names)), outcome(in_bytes(pair))
            data += layout.row(asked, told, section(pair.panel), _marks(pair, names, datasets))
    for name, reason in gaps:
        data += layout.row(name, reason, "")
    cells = [row for row in data if "side" in row]
    layers = [
        *_cells(_axis(own, cells)),
        *_crossovers(),
        *strips.words(),
    ]
    columns = ("name", "x", "ratio", "low", "high", "winner", "launches")
    return strips.finished(layers, data, columns, SUBTITLE, layout)


def _axis(own: Sequence[Pair], cells: Sequence[Row]) -> alt.X:
    unit = in_bytes(own[0]).panel.facts["axis_unit"]
    # A crossover is between measured points, and a published one need not be.
    low, high = min(cell["x0"] for cell in cells), max(cell["x1"] for cell in cells)
    ticks = axes.round_ticks(sorted({cell["x"] for cell in cells}))
    known = unit in numbers.SCALED_UNITS or unit in numbers.PREFIXED_UNITS
    labels = {tick: numbers.quantity(tick, unit) if known else f"{tick:,.0f}" for tick in ticks}
    return strips.position(None if known else unit, (low, high), labels)


def _cells(x: alt.X) -> list[alt.Chart]:
    """The strips: their colours, white bars over those of the reference, grey bars where it is open."""
    tips = marks.tips({"name": "question", "at": "at", "is": "ratio", "winner": "better", "launches": "launches"})
    sides = {"rival": RIVAL.light, "reference": REFERENCE.light, ALIKE: GRID.light, OPEN: "transparent"}
    colours = alt.Scale(domain=list(sides), range=list(sides.values()))
    drawn = strips.strips("cell", x, stroke=GROUND.light, strokeWidth=1, cursor="pointer").encode(
        fill=alt.Fill("side:N", legend=None, scale=colours),
        fillOpacity=alt.FillOpacity("strength:Q", legend=None, scale=None),
        href=alt.Href("link:N"),
        tooltip=tips,
    )
    bars = {"reference": (GROUND.light, [1, 6]), OPEN: (NOISE.light, [1, 4])}
    return [
        drawn.properties(name="points"),
        *(
            alt.Chart()
            .transform_filter(f"datum.side === '{side}'")
            .mark_rule(strokeWidth=strips.STRIP - 2, strokeDash=dash, stroke=colour, cursor="pointer")
            .encode(x="x0:Q", x2="x1:Q", y=strips.middle(), href=alt.Href("link:N"), tooltip=tips)
            for side, (colour, dash) in bars.items()
        ),
    ]


def _crossovers() -> list[alt.Chart]:
    """Measured crossovers with their intervals; published ones hollow."""
    crossed = alt.Chart().transform_filter("datum.kind === 'crossover'")
    others = alt.Chart().transform_filter("datum.kind === 'published'")
    tip = alt.Tooltip("tip:N")
    place: Any = {"x": alt.X("place:Q"), "y": strips.middle(), "tooltip": tip}
    # Each on a pale edge, because the strips can be as dark as the ink.
    edge: Any = {"shape": "diamond", "opacity": 1}
    return [
        crossed.mark_rule(strokeWidth=5, color=GROUND.light).encode(x="x0:Q", x2="x1:Q", y=strips.middle()),
        crossed.mark_rule(strokeWidth=2.5, color=INK.light).encode(x="x0:Q", x2="x1:Q", y=strips.middle(), tooltip=tip),
        crossed.mark_point(filled=True, size=85, fill=INK.light, stroke=GROUND.light, **edge).encode(**place),
        others.mark_point(size=85, fill=GROUND.light, stroke=INK.light, strokeWidth=1.6, **edge).encode(**place),
    ]


def _marks(pair: Pair, names: Mapping[questions.Name, str], datasets: Sequence[published.Dataset]) -> list[Row]:
    """The marks of a row: its cells, its crossover and the published ones."""
    scaled = in_bytes(pair)
    facts = {"name": question(pair, names), "link": section(pair.panel)}
    others = [place for dataset in datasets for place in _published(dataset, pair)]
    return [*(cell | facts for cell in _strip(scaled)), *_places(scaled, others)]


def section(panel: Panel) -> str:
    """The address of the charts of a panel's metric, in the section of its experiment."""
    return f"#fig-{slug(f'{panel.experiment} {panel.metric}')}"


def _short(pair: Pair, asked: str) -> str:
    """A question without the name of the library, which is the heading of its rows."""
    return asked.removeprefix(library(pair.panel.experiment)).lstrip(" ,")


def _strip(pair: Pair) -> list[Row]:
    """The cells of a strip: each reaches to the middle between it and its neighbours."""
    return [
        {
            "kind": "cell", "arm": "pairs", "x": cell["x"], "x0": start, "x1": end,
            "side": _side(pair, cell), "strength": _strength(pair, cell), "winner": pair.winner(cell),
            "ratio": cell["ratio"], "low": cell["low"], "high": cell["high"], "launches": cell["launches"],
            "at": numbers.quantity(cell["x"], cell["axis_unit"]),
            "is": f"{pair.arm} / {pair.panel.reference}: {numbers.ratio(cell['ratio'], cell['low'], cell['high'])}",
        }
        for cell, (start, end) in zip(pair.cells, pair.parts, strict=True)
    ]  # fmt: skip


def _side(pair: Pair, cell: Row) -> str:
    winner = pair.winner(cell)
    return {pair.arm: "rival", pair.panel.reference: "reference"}.get(winner, winner)


def _strength(pair: Pair, cell: Row) -> float:
    found = Outcome.of(cell)
    return strength(cell["ratio"]) if found.is_decided else float(found.verdict == ALIKE)


def strength(factor: float) -> float:
    """The opacity of a cell whose arms differ by a factor, or by its inverse."""
    return round(min(WEAK + (1 - WEAK) * abs(math.log(factor)) / STRONG, 1), 2)


def _places(pair: Pair, others: Sequence[tuple[float, str]]) -> list[Row]:
    """The crossover of a pair with its interval, if it has one; and the places of published crossovers."""
    found: list[Row] = [
        {"kind": "published", "place": place, "tip": f"published: {numbers.quantity(place, 'bytes', 2)} ({source})"}
        for place, source in others
        if pair.cells[0]["x"] <= place <= pair.cells[-1]["x"]
    ]
    row = pair.panel.crossover_of(pair.arm)
    if pair.verdict == "one" and row is not None and row["x"] is not None:
        low, high = (row["x"] if row[end] is None else row[end] for end in ("low", "high"))
        text = f"crossover: {numbers.position(row['x'], row['low'], row['high'], row['axis_unit'])}"
        found.append({"kind": "crossover", "place": row["x"], "x0": low, "x1": high, "tip": text})
    return found


def _published(dataset: published.Dataset, pair: Pair) -> list[tuple[float, str]]:
    """The crossover in a dataset of the pair's conditions, in the unit of the drawn axis; empty unless there is one."""
    factor = numbers.UNIT_BYTES.get(pair.panel.facts["axis_unit"], 1)
    own = [point for point in overlay.ratios_over(dataset, pair.panel) if point["arm"] == pair.arm]
    places = sorted({point["x"] for point in own})
    logs = [fmean(math.log(point["value"]) for point in own if point["x"] == x) for x in places]
    steps = [step for step in pairwise(zip(places, logs, strict=True)) if step[0][1] * step[1][1] < 0]
    if len(steps) != 1:
        return []
    ((x0, y0), (x1, y1)) = steps[0]
    place = math.exp(math.log(x0) + (math.log(x1) - math.log(x0)) * y0 / (y0 - y1))
    return [(factor * place, dataset.source)]


def question(pair: Pair, names: Mapping[questions.Name, str]) -> str:
    """The question that a strip answers."""
    return f"{names[questions.name(pair.panel)]}: {pair.arm} or {pair.panel.reference}?"


def words(pair: Pair, names: Mapping[questions.Name, str]) -> str:
    """The question and its answer in one line."""
    return f"{question(pair, names)} {outcome(in_bytes(pair))}"


def legend() -> str:
    """The legend of all charts of the map, as HTML."""
    bars = f'<path d="M4,0v14M11,0v14M18,0v14" stroke="{variable(GROUND)}" stroke-width="1.5"/>'
    grey = f'<path d="M2,0v14M7,0v14M12,0v14M17,0v14M21,0v14" stroke="{variable(NOISE)}"/>'
    diamond, ink = f'd="M11,1l6,6l-6,6l-6,-6z" stroke="{variable(INK)}"', variable(INK)
    found = f'<path d="M0,7h22" stroke="{ink}"/><path {diamond} fill="{ink}"/>'
    equal = f'<rect width="22" height="14" fill="{variable(GRID)}"/>'
    others = {equal: ALIKE, grey: OPEN, found: "crossover", f'<path {diamond} fill="{variable(GROUND)}"/>': "published"}
    sides = {"the first named is better": (RIVAL, ""), "the second is better": (REFERENCE, bars)}
    entries = [entry for who, (colour, over) in sides.items() for entry in _factors(who, colour, over)]
    return strips.key([*entries, *((strips.symbol(drawn), text) for drawn, text in others.items())])


def _factors(who: str, colour: Colour, over: str) -> list[tuple[str, str]]:
    """The entries of the legend for one side of a pair: the colour of each of SHOWN_FACTORS."""
    texts = [f"{factor}" for factor in SHOWN_FACTORS]
    texts[0], texts[-1] = f"{who}: {texts[0]}", f"{texts[-1]} times"
    fills = [f'fill="{variable(colour)}" opacity="{strength(factor)}"' for factor in SHOWN_FACTORS]
    drawn = [strips.symbol(f'<rect width="22" height="14" {fill}/>{over}') for fill in fills]
    return list(zip(drawn, texts, strict=True))
