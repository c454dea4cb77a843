"""What a panel shows: its gain, crossovers and thresholds in lines of tables. No number is typed.

A gain is that of a choice over the arm that a program has if nobody chose: what a run says first. A threshold is the
point from which an arm reaches a level such as half efficiency.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from crossover.config.amount import UNIT_BYTES
from crossover.design.experiments import declared
from crossover.records.outcome import ALIKE, KNOWN, OPEN, Outcome
from crossover.records.rows import Choice, Crossover, Ratio, Threshold
from crossover.report.text import numbers
from crossover.report.text.tables import Panel, panel_key, panel_names

THRESHOLDS = {
    "from": "from **{at}** on",
    "up to": "up to **{at}**",
    "always": "at every measured point",
    "never": "at no measured point",
    "at the latest": "at the latest from {high} on",
    "partly": "at some measured points, open at the last",
    "not yet": "not yet at {low}, open beyond",
    "several": "on and off, several times along the axis",
}
"""The words for each verdict: the threshold with its interval, or the measured points around it."""


@dataclass(frozen=True)
class Gain:
    """Neighbouring points of a curve with one choice, surely no default, that is better by more than KNOWN."""

    default: str
    rows: Sequence[Choice]
    factors: Sequence[float]
    """By which the choice is better than the default, by point, without the possible bias."""
    axis: Sequence[float]
    """All points of the curve."""

    @property
    def arm(self) -> str:
        return self.rows[0].choice

    @cached_property
    def size(self) -> float:
        """The geometric mean of the factors over the whole axis, so that one point does not make a finding."""
        return math.exp(math.fsum(map(math.log, self.factors)) / len(self.axis))

    @property
    def factor(self) -> str:
        """The factors, such as `2.9 to 8.4 times as fast`."""
        ends = (numbers.significant(end, 2) for end in (min(self.factors), max(self.factors)))
        better, _ = numbers.comparatives(self.rows[0].unit)
        return f"{' to '.join(dict.fromkeys(ends))} times as {'fast' if better == 'faster' else 'good'}"

    @property
    def place(self) -> str:
        """The part of the axis, such as `from 1 kB on`."""
        unit = self.rows[0].axis_unit
        scale, unit = (UNIT_BYTES[unit], "bytes") if unit in UNIT_BYTES else (1, unit)
        own, axis = ([scale * x for x in places] for places in ([row.x for row in self.rows], self.axis))
        starts, ends = own[0] == axis[0], own[-1] == axis[-1]
        first, last = (numbers.quantity(x, unit) for x in (own[0], own[-1]))
        if first == last or starts == ends:
            return f"{'at' if first == last else 'from'} {numbers.runs(own, axis, unit)}"
        return f"from {first} on" if ends else f"up to {last}"


def default(experiment: str) -> str:
    """The arm that a program has if nobody chose; empty if the experiment declares none."""
    return declared()[experiment].default if experiment in declared() else ""


def largest_gain(panel: Panel, rows: Sequence[Choice]) -> Gain | None:
    """The part of a curve with the largest gain over all of its points; None without a gain."""
    usual = default(panel.experiment)
    ratios = {(row.arm, row.x): row.ratio for row in panel.ratios}
    factors = [_factor(row, usual, panel.reference, ratios) for row in rows]
    points = [(row, factor) for row, factor in zip(rows, factors, strict=True)]
    parts = groupby(points, key=lambda point: point[0].choice if point[1] > KNOWN else None)
    found = [
        Gain(usual, [row for row, _ in own], [factor for _, factor in own], [row.x for row in rows])
        for own in (list(part) for arm, part in parts if arm is not None)
    ]
    return max(found, key=lambda gain: math.fsum(map(math.log, gain.factors)), default=None)


def _factor(row: Choice, usual: str, reference: str, ratios: Mapping[tuple[str, float], float]) -> float:
    """By how much a settled choice is better than the default, if that is surely not the best; 0 otherwise."""
    if row.verdict == OPEN or usual in (row.choice, *row.left):
        return 0.0
    chosen, other = (1.0 if arm == reference else ratios.get((arm, row.x), 0.0) for arm in (row.choice, usual))
    if not (chosen and other):
        return 0.0
    return chosen / other if row.better == "higher" else other / chosen


def alone(panel: Panel) -> str:
    """The arms of a panel in which none could be compared with another; empty otherwise."""
    if panel.compared:
        return ""
    arms = [f"`{arm}`" for arm in panel.arms if arm != panel.null] or ["the null arm"]
    seen = f"only {numbers.listed(arms)} {'has' if len(arms) == 1 else 'have'} data"
    return f"**{panel.title}.** No arm could be compared with another: {seen}."


def _word(panel: Panel, cell: Ratio) -> str:
    """The comparative for the arm, such as `faster`, from its ratio without the interval."""
    better, worse = numbers.comparatives(panel.unit)
    return better if (cell.ratio > 1) == (cell.better == "higher") else worse


def _possible_range(panel: Panel, arm: str) -> str:
    """The possible range of a single undetected crossover; empty if it could be anywhere."""
    row, cells = panel.crossover_of(arm), panel.ratios_of(arm)
    if row is None or row.x is not None or row.low is None or row.high is None:
        return ""
    low, high = (numbers.quantity(end, row.axis_unit, 2) for end in (row.low, row.high))
    # If an end of the axis is not rejected, the crossover may be beyond it.
    above, below = row.low > cells[0].x, row.high < cells[-1].x
    if above and below:
        return f"between {low} and {high}"
    return f"at {low} or above" if above else f"at {high} or below" if below else ""


def verdict(panel: Panel, arm: str) -> str:
    """The verdict in two or three words, for a table."""
    row = panel.crossover_of(arm)
    if row is None:
        return "not examined"
    if row.launches < 2:
        return "not replicated"
    match row.verdict:
        case "one":
            return f"{_beyond(panel, arm)} above it"
        case "always":
            return f"always {_beyond(panel, arm)}"
        case "none":
            rest = {OPEN, ALIKE} & {cell.verdict or "" for cell in panel.ratios_of(arm)}
            return " or ".join([_beyond(panel, arm), *sorted(rest)])
        case "several":
            return "crosses several times"
        case other:
            return other


def _beyond(panel: Panel, arm: str) -> str:
    """The comparative for `arm` at the last decided point."""
    decided = [cell for cell in panel.ratios_of(arm) if Outcome.of(cell).is_decided]
    return _word(panel, decided[-1])


def threshold_lines(panels: Sequence[Panel]) -> list[dict[str, str]]:
    """A line for each arm and level."""
    names = panel_names(panels)
    return [
        {
            "curve": names[panel_key(panel)],
            "arm": f"`{row.arm}`",
            "level": numbers.percent(level),
            "reached": reached(row),
            "between measured points": numbers.bracket(row.bracket_low, row.bracket_high, row.axis_unit),
        }
        for panel in panels
        for level in levels(panel)
        for row in _of_level(panel, level)
    ]


def levels(panel: Panel) -> list[float]:
    """The levels, rising; most metrics have none."""
    return sorted({row.level for row in panel.thresholds})


def _of_level(panel: Panel, level: float) -> list[Threshold]:
    """In the order of the arms, without the null arm, which repeats the reference."""
    found = {row.arm: row for row in panel.thresholds if row.level == level}
    return [found[arm] for arm in panel.arms if arm in found and arm != panel.null]


def reached(row: Threshold) -> str:
    """The verdict, to follow the name of an arm."""
    if row.launches < 2:
        return "not replicated"
    unit = row.axis_unit
    at = "" if row.x is None else numbers.position(row.x, row.low, row.high, unit)
    ends = (row.bracket_low, row.bracket_high)
    low, high = ("" if end is None else numbers.quantity(end, unit) for end in ends)
    return THRESHOLDS.get(row.verdict, OPEN).format(at=at, low=low, high=high)


def crossover_lines(panels: Sequence[Panel]) -> list[dict[str, str]]:
    """A line for each arm that was compared with the reference."""
    names = panel_names(panels)
    return [
        {
            "curve": names[panel_key(panel)],
            "arms": f"`{arm}` / `{panel.reference}`",
            "verdict": verdict(panel, arm),
            **_crossover_place(row, _possible_range(panel, arm)),
        }
        for panel in panels
        for arm in panel.rivals
        if (row := panel.crossover_of(arm))
    ]


def _crossover_place(row: Crossover, possible: str) -> dict[str, str]:
    """The crossover and the measured points around it; without a single crossover, its possible range."""
    where, around = f"none found; one could lie {possible}" if possible else "–", "–"
    if row.launches > 1 and row.verdict == "one" and row.x is not None:
        where = numbers.position(row.x, row.low, row.high, row.axis_unit)
        around = numbers.bracket(row.bracket_low, row.bracket_high, row.axis_unit)
    return {"crossover": where, "between measured points": around}
