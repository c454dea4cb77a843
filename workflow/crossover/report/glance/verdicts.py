"""The picture of the published claims: the range that each predicts, the measured interval, and the verdict.

Every claim is divided by what it expects, so that claims on rates, times and ratios share an axis.
"""

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import altair as alt

from crossover.config import sources
from crossover.records import failure
from crossover.report.base import markup
from crossover.report.base.tables import Row, grouped, rows
from crossover.report.charts import axes, export
from crossover.report.charts.colours import ARMS, GRID, GROUND, NOISE, Colour, variable
from crossover.report.glance import rows as strips
from crossover.report.sections import claims

NAME = "verdicts"

LOOKS: dict[str, tuple[Colour, str]] = {
    "holds": (ARMS[0], "circle"),
    "refuted": (ARMS[1], "cross"),
    "open": (NOISE, "diamond"),
}
"""The colour and the symbol of each verdict."""

EDGE = math.log(1.5)
"""The distance of the ends of a range from its middle, as a logarithm, if the range has no middle by itself."""
FARTHEST = math.log(100)
"""The logarithm of the largest factor that is drawn; a claim that is farther off is drawn at the edge."""

CAPTION = (
    "Published claims, measured here. The axis is the measured number, divided by the claimed one, or by the middle of "
    "the expected range; a range that contains zero is drawn as if its ends were a fixed factor from its middle. Grey "
    "columns are expected ranges; the line of a symbol is the interval."
)
SUBTITLE = "grey: expected range; circle: holds; cross: refuted; diamond: open; line: interval"
HINT = "Point at a claim for its words; click it for the source's words and the method."
FACTS = ("claim", "source", "verdict", "value", "low", "high", "expected_low", "expected_high", "unit")
"""The columns of the picture's data."""
WORDS = "#sec-told"
"""The section with the words of all claims."""


def judged(table: Sequence[Row]) -> list[Row]:
    """The claims with a measured number and an expected range, those under one heading together."""
    known = [row for row in table if row["verdict"] in LOOKS and row["value"] is not None and any(_ends(row))]
    return [row for own in _by_heading(known).values() for row in own]


def _by_heading(table: Sequence[Row]) -> dict[tuple[str], list[Row]]:
    return grouped([row | {"heading": _heading(row["source"])} for row in table], "heading")


def words(row: Row) -> str:
    """A claim and its verdict in a sentence, without Markdown."""
    return f"{_says(row)}: {', '.join(_answer(row).splitlines())}."


def draw(results: Path, folder: Path) -> None:
    """Write the chart, from the claims in `results`, to `folder`; without judged claims, an empty folder.

    If this fails, the folder keeps the reason.
    """
    own: list[Row] = []
    with failure.caught("figure", NAME) as failures:
        own = judged(rows(results, "claims"))
    export.draw({NAME: partial(chart, own)} if own else {}, folder, failures=failures)


def chart(own: Sequence[Row]) -> alt.LayerChart:
    """A row for each of these claims, under the titles of their sources."""
    layout = strips.Layout()
    data: list[Row] = []
    for (heading,), claimed in _by_heading(own).items():
        data += layout.heading(heading)
        for row in claimed:
            data += layout.row(_says(row), _answer(row), WORDS, _marks(row))
    reach = [end for row in data for end in (row.get("place"), row.get("x0"), row.get("x1")) if end]
    low, high = min(reach) / 1.1, max(reach) * 1.1
    for row in data:
        if row["kind"] == "range":
            row |= {"x0": row["x0"] or low, "x1": row["x1"] or high}
    return strips.finished(_layers((low, high)), data, FACTS, SUBTITLE, layout)


def _layers(domain: tuple[float, float]) -> list[alt.Chart]:
    labels = {tick: f"{tick:g}" for tick in axes.log_ticks(*domain)}
    x = strips.position("measured ÷ claimed", domain, labels)
    colours = alt.Scale(domain=list(LOOKS), range=[colour.light for colour, _ in LOOKS.values()])
    shapes = alt.Scale(domain=list(LOOKS), range=[shape for _, shape in LOOKS.values()])
    colour = alt.Color("verdict:N", legend=None, scale=colours)
    found = alt.Chart().transform_filter("datum.kind === 'claim'")
    tip = alt.Tooltip("tip:N")
    return [
        strips.strips("range", x, fill=GRID.light, stroke=NOISE.light, strokeWidth=0.5),
        found.mark_rule(strokeWidth=2.5).encode(x="x0:Q", x2="x1:Q", y=strips.middle(), color=colour, tooltip=tip),
        found.properties(name="points")
        .mark_point(filled=True, size=80, opacity=1, stroke=GROUND.light, strokeWidth=1, cursor="pointer")
        .encode(
            x="place:Q", y=strips.middle(), color=colour, tooltip=tip, href=alt.Href("link:N"),
            shape=alt.Shape("verdict:N", legend=None, scale=shapes),
        ),
        *strips.words(),
    ]  # fmt: skip


def _marks(row: Row) -> list[Row]:
    """The marks of a claim: its range, and its number with the interval."""
    ends: list[float | None] = [None if end is None else scaled(row, end) for end in _ends(row)]
    value = scaled(row, row["value"])
    low, high = (value if row[end] is None else scaled(row, row[end]) for end in ("low", "high"))
    return [
        {"kind": "range", "x0": ends[0], "x1": ends[1]},
        {
            "kind": "claim", "place": value, "x0": low, "x1": high, "tip": words(row), "link": WORDS,
            **{name: row[name] for name in FACTS},
        },
    ]  # fmt: skip


def _says(row: Row) -> str:
    words = markup.plain(" ".join(row["says"].split())).rstrip(".")
    return f"{words} ({row['differs']})" if row["differs"] else words


def _answer(row: Row) -> str:
    return f"{row['verdict']}: {claims.measured(row)}\nexpected {claims.expected(row)}"


def _ends(row: Row) -> tuple[float | None, float | None]:
    return row["expected_low"], row["expected_high"]


def scaled(row: Row, value: float) -> float:
    """A number in the unit of a claim, as a factor of what the claim expects."""
    low, high = _ends(row)
    known = [end for end in (low, high) if end is not None]
    if min(known) > 0:
        middle = row["published"] or math.sqrt(min(known) * max(known))
        place = math.log(value / middle) if value > 0 else -FARTHEST
    elif low is not None and high is not None:
        place = EDGE * (2 * value - low - high) / (high - low)
    else:
        place = value - known[0]
    return math.exp(min(max(place, -FARTHEST), FARTHEST))


def _heading(source: str) -> str:
    """The heading of a document's claims; only its key if this project does not list it."""
    known = sources.read().get(source)
    return known.heading if known else source


def legend() -> str:
    """The legend of the picture, as HTML."""
    shapes = {
        "circle": '<circle cx="11" cy="7" r="4.5"/>',
        "cross": '<path d="M9,2h4v3h3v4h-3v3h-4v-3h-3v-4h3z"/>',
        "diamond": '<path d="M11,1l5,6l-5,6l-5,-6z"/>',
    }
    grey = f'<rect width="22" height="14" fill="{variable(GRID)}" stroke="{variable(NOISE)}"/>'
    symbols = []
    for verdict, (colour, shape) in LOOKS.items():
        drawn = f'<path d="M0,7h22"/>{shapes[shape]}'
        symbols.append((f'<g fill="{variable(colour)}" stroke="{variable(colour)}">{drawn}</g>', verdict))
    return strips.key((strips.symbol(drawn), text) for drawn, text in [(grey, "expected"), *symbols])
