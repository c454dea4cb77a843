"""The charts of a tournament: a matrix of all pairs of hosts, and the effects of hosts with their intervals.

They are drawn from the table of pairs when a page is made, not kept as figures: a page to publish must show pseudonyms.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median, median_high, median_low
from typing import Any

import altair as alt

from crossover.records.outcome import ALIKE, KNOWN, OPEN, WORSE
from crossover.records.rows import Pair, Rank
from crossover.report.charts import arm_styles, figures, gallery, marks
from crossover.report.charts.arm_styles import ARMS, INK, NOISE, Look
from crossover.report.text import markup, numbers
from crossover.report.text.tables import grouped, slug
from crossover.report.tournament.order import order, spanned
from crossover.report.tournament.words import Tournament

EVERY_PAIR = 64
"""The most hosts of which the matrix shows every pair."""
GROUPS = 32
"""The most groups of hosts in the matrix of more."""
BARS = 24
"""The most hosts whose effects are shown."""
LABELS = 24
"""The most names along a side of the matrix."""
SIDE = 360
"""The height of the matrix in pixels."""
NARROW = 4
"""The entries of the matrix's legend in a row that a narrow screen holds."""
BAR = 18
"""The height of a host's effect in pixels."""

BLUE, ORANGE = ARMS[:2]
STEPS = (1.05, KNOWN, 2.0)
"""Times worse than the median pair at which a cell has another colour; as many times better is another, too."""
KINDS = {
    "better": (BLUE.light, 0.6),
    **{
        f"≤ {step:g}": look
        for step, look in zip(STEPS, ((NOISE.light, 0.2), (ORANGE.light, 0.35), (ORANGE.light, 0.7)), strict=True)
    },
    "more": (ORANGE.light, 1.0),
}
"""The colour and strength of each kind of cell."""
LOOKS = {
    WORSE: Look(ORANGE, arm_styles.DIAMOND, ()),
    OPEN: Look(NOISE, arm_styles.SQUARE, ()),
    ALIKE: Look(BLUE, arm_styles.CIRCLE, ()),
}
WORDS = {WORSE: "slow", OPEN: "open", ALIKE: "alike"}

CAPTION = (
    "Pairs of hosts, and the effect of each host. In the matrix, a cell is a pair: how many times worse it is than the "
    "median pair. Slow hosts are bold, slow links framed; a pair that did not play is blank. Beside it, how many times "
    "worse each host is than the others, with its interval; the dashed line marks no difference, the dotted line the "
    "smallest effect that counts as slow."
)
GROUPED = "In the matrix, hosts are in groups of neighbours; a cell is the median of the pairs between two groups."


@dataclass(frozen=True)
class Contest:
    """The rows of one metric, point of the axis and arm; there is at least one."""

    rows: Sequence[Pair]
    hosts: Sequence[str]
    """The hosts in the order of the matrix."""

    @property
    def effects(self) -> list[Pair]:
        """The rows of hosts on their own, the largest effect first."""
        return sorted((row for row in self.rows if not row.other), key=lambda row: -(row.factor or 0))

    @property
    def slow(self) -> list[str]:
        return [row.host for row in self.effects if row.verdict == WORSE]

    @cached_property
    def pairs(self) -> list[Pair]:
        return [row for row in self.rows if row.other]

    @cached_property
    def usual(self) -> float:
        """The value of the median pair, or of the better one of two: a slow host is in half of the pairs of four."""
        values = [row.value for row in self.pairs]
        return median_low(values) if self.rows[0].better == "lower" else median_high(values)

    def times(self, row: Pair) -> float:
        """How many times worse a pair is than the median pair."""
        return row.value / self.usual if row.better == "lower" else self.usual / row.value

    @cached_property
    def groups(self) -> dict[str, str]:
        """The row of the matrix of each host: its own, or that of a group of neighbours."""
        size = 1 if len(self.hosts) <= EVERY_PAIR else -(-len(self.hosts) // GROUPS)
        parts = (self.hosts[start : start + size] for start in range(0, len(self.hosts), size))
        return {host: spanned(part) for part in parts for host in part}

    @property
    def shown(self) -> list[Pair]:
        """The effects in the chart, all or the largest; of many hosts, those that are slow or open come first."""
        every = self.effects
        return every if len(every) <= BARS else sorted(every, key=lambda row: row.verdict == ALIKE)[:BARS]

    @property
    def rest(self) -> str:
        """The number of the other hosts by verdict; empty without any."""
        shown = {row.host for row in self.shown}
        others = [row.verdict for row in self.effects if row.host not in shown]
        counts = numbers.tally(others, {verdict: (word, word) for verdict, word in WORDS.items()})
        return f"; not shown: {counts}" if others else ""


def contests(tournament: Tournament, switches: Mapping[str, str]) -> list[Contest]:
    """The contests of a tournament, the one with the largest effect of a slow host first.

    `switches` are those above each host, as far as they are known.
    """
    own = [*grouped(tournament.rows, "placement", "protocol", "metric", "x", "arm").values()]
    lead = tournament.slow_hosts[:1] or tournament.slow_links[:1]
    own.sort(key=lambda rows: not any(row is lead[0] for row in rows) if lead else 0)
    return [
        Contest(rows, order({name for row in rows for name in (row.host, row.other) if name}, switches)) for rows in own
    ]


def figure(tournament: Tournament, ranks: Sequence[Rank]) -> str:
    """The charts of a tournament with a choice of its contests, as Markdown. Its `ranks` tell the network of hosts."""
    shown = contests(tournament, {rank.host: rank.switches for rank in ranks})
    names = [markup.plain(tournament.measured(one.rows[0])) for one in shown]
    group = f"{tournament.experiment} pairs"
    panels = [_panel(one, name, slug(f"{group} {name}")) for one, name in zip(shown, names, strict=True)]
    charts = gallery.framed(slug(group), dict(zip(names, names, strict=True)), {}, "".join(panels))
    caption = f"{CAPTION} {GROUPED}" if any(len(one.hosts) > EVERY_PAIR for one in shown) else CAPTION
    return markup.figure(slug(group), charts, caption)


def _panel(one: Contest, name: str, stem: str) -> str:
    charts = []
    if one.pairs:
        about = "times worse than the median pair; slow hosts bold, slow links framed"
        described = f"Matrix of pairs of hosts, {name}. {gallery.NUMBERS}"
        charts.append(gallery.embedded(matrix(one).to_dict(validate=False), f"{stem}-matrix", about, described))
    if any(row.factor is not None for row in one.shown):
        about = f"times worse than the other hosts{one.rest}"
        described = f"Effect of each host, {name}. {gallery.NUMBERS}"
        charts.append(gallery.embedded(effects(one).to_dict(validate=False), f"{stem}-hosts", about, described))
    return gallery.framed_panel(stem, name, name, "", charts)


def matrix(one: Contest) -> alt.LayerChart:
    """The pairs of a contest, or of groups of its hosts, as cells that show how many times worse they are."""
    names = [*dict.fromkeys(one.groups.values())]
    bold = sorted({one.groups[host] for host in one.slow})
    title = "times worse than the median pair"
    axis = alt.Axis(
        title=None, values=_labelled(names, bold), labelLimit=110, ticks=False, labelFontWeight=_weight(bold),
        labelOverlap="greedy",
    )  # fmt: skip
    scale = alt.Scale(domain=names, paddingInner=0, paddingOuter=0)
    x, y = alt.X("column:N", axis=axis, scale=scale), alt.Y("row:N", axis=axis, scale=scale)
    legend = marks.legend([*KINDS])
    legend.columns = NARROW
    colours, strengths = (
        alt.Scale(type="ordinal", domain=[*KINDS], range=[*own]) for own in zip(*KINDS.values(), strict=True)
    )
    cells = (
        alt.Chart()
        .mark_rect()
        .encode(
            x=x,
            y=y,
            color=alt.Color("kind:O", scale=colours, legend=legend),
            opacity=alt.Opacity("kind:O", scale=strengths, legend=legend),
            tooltip=marks.tips({"row": "host", "column": "other", "times": title, "pairs": "pairs"}),
        )
    )
    framed = alt.Chart().transform_filter("datum.framed").mark_rect(fillOpacity=0, stroke=INK.light, strokeWidth=1.5)
    columns = [("host", "host"), ("other", "other"), (title, "times"), ("pairs", "pairs")]
    return _chart([cells, framed.encode(x=x, y=y)], _cells(one), SIDE, columns)


def _cells(one: Contest) -> list[marks.Point]:
    """The data of the matrix: each pair of groups on both sides of the diagonal, but once as a line of the data."""
    cells: dict[tuple[str, str], list[Pair]] = {}
    for row in one.pairs:
        cells.setdefault((one.groups[row.host], one.groups[row.other]), []).append(row)
    points: dict[tuple[str, str], marks.Point] = {}
    for host, other in cells:
        rows = cells[host, other] + (cells.get((other, host), []) if host != other else [])
        times = median(map(one.times, rows))
        kind = [*KINDS][0 if times < 1 / STEPS[0] else 1 + sum(times > step for step in STEPS)]
        fact = {"kind": kind, "times": numbers.significant(times), "pairs": len(rows)}
        fact["framed"] = any(row.verdict == WORSE for row in rows)
        points[other, host] = fact | {"row": other, "column": host}
        points[host, other] = fact | {"row": host, "column": other, "host": host, "other": other}
    return list(points.values())


def effects(one: Contest) -> alt.LayerChart:
    """The effects of the shown hosts of a contest, with their intervals."""
    rows = [row for row in one.shown if row.factor is not None]
    points: list[marks.Point] = [
        {
            "host": row.host, "value": row.factor, "low": row.low, "high": row.high, "verdict": WORDS[row.verdict],
            "launches": row.launches, "is": numbers.ratio(row.factor or 1.0, row.low, row.high),
        }
        for row in rows
    ]  # fmt: skip
    looks = {WORDS[verdict]: look for verdict, look in LOOKS.items() if any(row.verdict == verdict for row in rows)}
    bold = [row.host for row in rows if row.verdict == WORSE]
    axis = alt.Axis(title=None, labelLimit=110, ticks=False, labelFontWeight=_weight(bold), labelOverlap=False)
    title = "times worse than the others"
    x = alt.X("value:Q", scale=alt.Scale(zero=False, nice=False, padding=8), axis=alt.Axis(tickCount=5), title=title)
    base = alt.Chart().encode(y=alt.Y("host:N", sort=[row.host for row in rows], axis=axis))
    spans = base.mark_rule(strokeWidth=2, color=INK.light, opacity=0.6).encode(
        x=alt.X("low:Q", title=title), x2="high:Q"
    )
    facts = {"host": "host", "is": title, "verdict": "verdict", "launches": "launches"}
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=x, tooltip=marks.tips(facts), **marks.encodings(looks, "verdict")
    )
    smallest = max((row.smallest_effect or 1.0 for row in rows), default=1.0)
    lines = [_line(1.0, (4, 3), title)] + ([_line(smallest, (1, 3), title)] if smallest > 1 else [])
    columns = [("host", "host"), (title, "value"), *((name, name) for name in ("low", "high", "verdict", "launches"))]
    return _chart([*lines, spans, dots], points, max(BAR * len(rows), 4 * BAR), columns)


def _line(place: float, dash: tuple[int, ...], title: str) -> alt.Chart:
    line: alt.Chart = alt.Chart(alt.Data(values=[{"place": place}])).mark_rule(color=INK.light, strokeDash=list(dash))
    return line.encode(x=alt.X("place:Q", title=title))


def _chart(
    layers: Sequence[alt.Chart], points: Sequence[marks.Point], height: int, columns: Sequence[tuple[str, str]]
) -> alt.LayerChart:
    drawn: alt.LayerChart = alt.LayerChart(
        layer=list(layers),
        width="container",
        height=height,
        usermeta={"columns": [*map(list, columns)]},
        config=figures.style(),
    ).add_params(alt.param(name=marks.HIDDEN, value=[]))
    drawn.data = alt.Data(values=list(points))
    return drawn


def _labelled(names: Sequence[str], bold: Sequence[str]) -> list[str]:
    """The names to write along a side: the bold ones, and others in equal steps that are not too near to them."""
    step = -(-len(names) // LABELS)
    kept = {place for place, name in enumerate(names) if name in bold}
    kept |= {place for place in range(0, len(names), step) if not any(abs(place - other) < step for other in kept)}
    return [names[place] for place in sorted(kept)]


def _weight(bold: Sequence[str]) -> Any:
    test = f"indexof({json.dumps(list(bold))}, datum.value) >= 0"
    return {"condition": {"test": test, "value": "bold"}, "value": "normal"}
