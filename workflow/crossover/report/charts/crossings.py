"""The crossovers of a run: a row for each pair of arms that has one, with its interval, on axes that they share."""

import html
from collections.abc import Iterable, Sequence

from crossover.config.amount import UNIT_BYTES
from crossover.records.rows import Crossover
from crossover.report.charts import arm_styles, gallery, marks, strips
from crossover.report.text import findings, numbers
from crossover.report.text.tables import Panel, panel_key, panel_names, slug

CAPTION = (
    "All crossovers, in the leading metric of each experiment. A diamond is the place from which the first arm of a "
    "pair is better, or worse, than the second; its line is the interval."
)

OTHERS = {
    "always": ("differs in one direction at every point", "differ in one direction at every point"),
    "alike": ("is alike everywhere", "are alike everywhere"),
    "none": ("differs in one direction at some points", "differ in one direction at some points"),
    "several": ("crosses several times", "cross several times"),
    "open": ("is open everywhere", "are open everywhere"),
}
"""The words for the verdicts on pairs without a crossover."""

Pair = tuple[Panel, Crossover]
"""A panel, and its row of the crossovers for one arm."""


def picture(panels: Sequence[Panel]) -> str:
    """The crossovers of these panels as HTML; empty without one."""
    names = panel_names(panels)
    groups: dict[str, list[Pair]] = {}
    for panel, row in _pairs(panels):
        if row.verdict == "one":
            unit = row.axis_unit
            groups.setdefault("bytes" if unit in UNIT_BYTES else unit, []).append((panel, row))
    bodies = [_body(unit, pairs, {key: str(name) for key, name in names.items()}) for unit, pairs in groups.items()]
    return f'<div class="crossover-map">{strips.table(bodies, "Crossovers")}</div>' if bodies else ""


def rest(panels: Sequence[Panel]) -> str:
    """The number of pairs without a crossover, by verdict, in a sentence."""
    verdicts = [row.verdict for _, row in _pairs(panels)]
    others = [verdict for verdict in verdicts if verdict in OTHERS]
    if not others:
        return ""
    total = numbers.counted(len(others), "pair")
    return f"{total} of arms without a single crossover: {numbers.tally(others, OTHERS)}. The sections list them."


def _pairs(panels: Sequence[Panel]) -> Iterable[Pair]:
    for panel in panels:
        for arm in panel.rivals:
            row = panel.crossover_of(arm)
            if row is not None and row.launches > 1:
                yield panel, row


def _body(unit: str, pairs: Sequence[Pair], names: dict[tuple[str, str, str], str]) -> str:
    places = sorted(_scaled(row, end) for _, row in pairs for end in (row.x, row.low, row.high) if end is not None)
    scale = strips.Scale(places[0] / 2, places[-1] * 2)
    ticks = marks.log_ticks(scale.low, scale.high)
    prefixed = unit in numbers.SCALED_UNITS or unit in numbers.PREFIXED_UNITS
    labels = {tick: numbers.quantity(tick, unit) if prefixed else f"{tick:,.0f}" for tick in ticks}
    title = "size" if unit == "bytes" else pairs[0][0].facts.axis
    groups: dict[str, list[str]] = {}
    for panel, row in pairs:
        groups.setdefault(names[panel_key(panel)], []).append(_row(panel, row, scale))
    return strips.body(title, scale, labels, list(groups.items()))


def _scaled(row: Crossover, place: float) -> float:
    """A place in bytes, if the axis is a length of arrays."""
    return place * UNIT_BYTES.get(row.axis_unit, 1)


def _row(panel: Panel, row: Crossover, scale: strips.Scale) -> str:
    arm, looks = row.arm, arm_styles.of(panel)
    pair = (
        f"{strips.coloured(arm, looks[arm].colour)} / {strips.coloured(panel.reference, looks[panel.reference].colour)}"
    )
    assert row.x is not None
    place = numbers.position(row.x, row.low, row.high, row.axis_unit)
    words = f"{findings.verdict(panel, arm).removesuffix(' it')} {place}"
    low, high = (row.x if end is None else end for end in (row.low, row.high))
    drawn = [
        strips.cell("interval", scale, (_scaled(row, low), _scaled(row, high)), words),
        strips.point("crossover", scale, _scaled(row, row.x), words),
    ]
    asked = f'<a href="#{gallery.address(panel)}">{pair}</a>'
    name = slug(f"crossover {panel.experiment} {panel.name} {arm}")
    return strips.row(name, asked, drawn, html.escape(words))
