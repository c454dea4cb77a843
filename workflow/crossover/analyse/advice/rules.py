"""Decides whether a panel supports a value of a setting, and if not, why: one function for each kind of rule.

Only the panel's own metric decides (docs/data.md, "Rules for recommendations").
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import fields

import numpy as np

from crossover.analyse.advice.effects import Gain, change, contradicts, gains, per_launch
from crossover.analyse.curves.curve import Row
from crossover.analyse.curves.panel import Panel
from crossover.analyse.estimators.crossover import Crossing
from crossover.analyse.estimators.sensitivity import NO_NULL
from crossover.analyse.estimators.threshold import onset
from crossover.analyse.statistics.intervals import Floats, estimate
from crossover.analyse.statistics.outcome import verdicts
from crossover.design.advice import Choice, Level, Onset, Setting, Value
from crossover.records.outcome import ALIKE, BETTER, OPEN, VERDICTS, WORSE

DIGITS = 3
"""Significant digits of a recommended point of the axis; none is known more precisely."""

NOT_REPLICATED = "not replicated: a single launch has no interval"
NO_PAIR = "not measured: no alternative shares a whole launch with the default"

NO_ONSET = {
    "up to": "`{arm}` is better than `{other}` only below a point, not above",
    "never": "`{arm}` is worse than `{other}` at every measured point",
    "not yet": "`{arm}` is worse than `{other}` at some points, and no gain passes the test of all points together",
    "several": "`{arm}` and `{other}` cross several times along the axis",
    ALIKE: "`{arm}` and `{other}` are alike at every measured point",
    OPEN: "open: `{arm}` and `{other}` differ nowhere beyond chance and possible bias",
}
NO_SPLIT = "no point of the axis has every gain of `{arm}` above and every loss below"
AS_SHIPPED = "the shipped threshold may stay: it lies within the interval of the crossover"
AS_GOOD = "the shipped threshold may stay: no decided point lies between it and another"
LOSS = "`{arm}` is worse than the default at some measured points"
NO_LEVEL = {
    "up to": "`{arm}` reaches it only below a point, not above",
    "never": "`{arm}` is significantly below it at every measured point",
    "not yet": "`{arm}` is significantly below it at first, and is nowhere shown to reach it",
    "partly": "`{arm}` reaches it at some points, but the last is open",
    "several": "`{arm}` reaches it on and off along the axis",
    OPEN: "open: the data cannot tell whether `{arm}` reaches it",
}


def decide(setting: Setting, panel: Panel) -> Iterator[Row]:
    """The known columns of the rows of a setting from a panel: one row, or for a level one per arm."""
    match setting.rule:
        case Onset() as rule:
            yield _onset(setting, rule, panel)
        case Choice() as rule:
            yield _choice(setting, rule, panel)
        case Level() as rule:
            measured = panel.measured(rule.arms)
            yield from (_level(setting, rule, panel, arm) for arm in measured)
            if not measured:
                yield _not_measured(rule.arms, panel)


def _onset(setting: Setting, rule: Onset, panel: Panel) -> Row:
    """The crossover of an arm and `other`. Of several arms, the one with the largest gain along the axis is chosen, and
    the gains are corrected for their number. The point is not chosen by its gain, so that needs no correction."""
    arms = panel.measured(rule.arms)
    if not (arms and panel.measured([rule.other])):
        missing = [arm for arm in (*rule.arms, rule.other) if not panel.measured([arm])]
        return _not_measured(missing, panel)
    columns: Row = {"default": rule.other, "arms": json.dumps([*arms, rule.other])}
    places = {arm: _passes(rule, arm, panel) for arm in arms}
    placed = {arm: row for arm, row in places.items() if "x" in row}
    gained = {arm: panel.swept(change(rule, arm, _written(row, panel.x), panel)) for arm, row in placed.items()}
    gained = {arm: d for arm, d in gained.items() if not np.isnan(d).all()}
    if not gained:
        reasons = dict.fromkeys(row.get("reason", NO_PAIR) for row in places.values())
        return columns | places[arms[0]] | {"arm": arms[0], "reason": "; ".join(reasons)}
    numbers = np.stack([per_launch(d) for d in gained.values()], axis=1)
    found = dict(zip(gained, gains(numbers, panel.bias), strict=True))
    cells = len(panel.cells(panel.swept(panel.better[rule.other])))
    along = {arm: found[arm].mean * len(panel.cells(d)) / cells for arm, d in gained.items()}
    best = max(found, key=lambda arm: (found[arm].verdict == BETTER, along[arm]))
    columns |= placed[best] | {"arm": best}
    if reason := _as_shipped(rule, columns, panel):
        return columns | {"reason": reason}
    return columns | _judged(setting, _written(columns, panel.x), best, found[best], panel, gained[best])


def _as_shipped(rule: Onset, place: Row, panel: Panel) -> str:
    """The reason why the library's own threshold may stay; empty if the place is another."""
    shipped = rule.shipped_from
    if place["low"] is not None:
        return AS_SHIPPED if place["low"] <= shipped <= place["high"] else ""
    between = (panel.x >= shipped) != (panel.x >= place["x"])
    decided = json.loads(place["points"])
    alike = math.isfinite(shipped) and not np.isin(panel.x[between], decided[BETTER] + decided[WORSE]).any()
    return AS_GOOD if alike else ""


def _passes(rule: Onset, arm: str, panel: Panel) -> Row:
    """The point from which an arm is better than the other, or the reason why there is none."""
    d = panel.better[arm] - panel.better[rule.other]
    told = _points(d, panel)
    columns: Row = {"launches": int((~np.isnan(d)).any(axis=1).sum()), "points": json.dumps(told)}
    if columns["launches"] < 2:
        return columns | {"reason": NOT_REPLICATED}
    if np.isnan(panel.bias):
        return columns | {"reason": NO_NULL}
    found = onset(panel.x, d, panel.bias)
    columns["verdict"] = found.verdict
    if found.verdict in NO_ONSET:
        # Losses that are neither first nor everywhere have no verdict of their own.
        lost = found.verdict == OPEN and told[WORSE]
        equal = len(told[ALIKE]) == sum(map(len, told.values()))
        reason = NO_ONSET["not yet" if lost else ALIKE if equal else found.verdict]
        return columns | {"reason": reason.format(arm=arm, other=rule.other)}
    gain, loss = min(told[BETTER]), max(told[WORSE], default=0)
    if loss >= gain:
        return columns | {"reason": NO_SPLIT.format(arm=arm)}
    crossed = found.verdict == "from" and found.x is not None and loss < found.x <= gain
    return columns | (_estimated(found) if crossed else _bound(gain))


def _points(d: Floats, panel: Panel) -> dict[str, list[float]]:
    """The column `points`: for each verdict, the measured points at which an alternative, ahead by `d`, has it."""
    x = panel.cells(d)
    told = verdicts(estimate(d[:, np.isin(panel.x, x)]).with_bias(panel.bias))
    return {name: [float(place) for place, own in zip(x, told, strict=True) if own == name] for name in VERDICTS}


def _choice(setting: Setting, rule: Choice, panel: Panel) -> Row:
    """The best of several arms; their gains are corrected for their number."""
    if not panel.measured([rule.default]):
        return _not_measured([rule.default], panel)
    rivals = [arm for arm in rule.values if arm != rule.default]
    measured = panel.measured(rivals)
    if not measured:
        return _not_measured(rivals, panel)
    gained = {arm: panel.swept(change(rule, arm, rule.values[arm], panel)) for arm in measured}
    numbers = {arm: per_launch(d) for arm, d in gained.items()}
    # An arm of another heat shares no launch with the default, so they are not paired.
    paired = {arm: column for arm, column in numbers.items() if not np.isnan(column).all()}
    if not paired:
        return {"default": rule.default, "reason": NO_PAIR}
    found = dict(zip(paired, gains(np.stack(list(paired.values()), axis=1), panel.bias), strict=True))
    sound = {arm: not contradicts(rule, arm, rule.values[arm], panel) for arm in found}
    best = max(
        found,
        key=lambda arm: (found[arm].verdict == BETTER and sound[arm], found[arm].verdict == BETTER, found[arm].mean),
    )
    gain = found[best]
    columns: Row = {"arm": best, "default": rule.default, "arms": json.dumps([rule.default, *found])}
    columns["launches"] = gain.launches
    if gain.launches < 2:
        return columns | {"reason": NOT_REPLICATED}
    columns["points"] = json.dumps(_points(change(rule, best, rule.values[best], panel), panel))
    return columns | _judged(setting, rule.values[best], best, gain, panel, gained[best])


def _level(setting: Setting, rule: Level, panel: Panel, arm: str) -> Row:
    columns: Row = {"arm": arm, "arms": json.dumps([arm])}
    row = next((row for row in panel.thresholds if row["arm"] == arm and row["level"] == rule.level), None)
    if row is None:
        return columns | {"reason": f"not examined: the run has no threshold for a level of {rule.level:g}"}
    found = Crossing(**{column.name: row[column.name] for column in fields(Crossing)})
    columns |= {"launches": int(row["launches"]), "verdict": found.verdict}
    if row["launches"] < 2:
        return columns | {"reason": NOT_REPLICATED}
    if found.verdict in NO_LEVEL:
        return columns | {"reason": NO_LEVEL[found.verdict].format(arm=arm)}
    cells = panel.cells(panel.better[arm])
    bound = cells[0] if found.verdict == "always" else found.bracket_high
    columns |= _estimated(found) if found.verdict == "from" else _bound(bound)
    return columns | _recommended(setting, _written(columns, cells), arm)


def _estimated(found: Crossing) -> Row:
    return {"x": found.x, "low": found.low, "high": found.high}


def _bound(x: float | None) -> Row:
    """The columns of a place that is a measured point; whether it could be lower is open."""
    return {"x": x, "low": None, "high": x}


def _written(place: Row, cells: Floats) -> int:
    """A place as a whole number for a program: rounded to DIGITS if it was estimated, unless that passes a measured
    point."""
    x = float(place["x"])
    if place["low"] is None:
        return max(1, math.floor(x))
    rounded = round(float(f"{x:.{DIGITS - 1}e}"))
    return max(1, rounded if np.array_equal(cells >= rounded, cells >= x) else math.ceil(x))


def _judged(setting: Setting, value: Value, arm: str, gain: Gain, panel: Panel, d: Floats) -> Row:
    """The columns of a gain from `d`, shape (launches, cells), and of a recommendation if it passes its test, otherwise
    the reason."""
    cells = panel.cells(d)
    columns: Row = {
        "gain": np.exp(gain.mean),
        "gain_low": np.exp(gain.low),
        "gain_high": np.exp(gain.high),
        "gain_from": cells.min(),
        "gain_to": cells.max(),
        "smallest_effect": np.exp(panel.bias),
        "tried": gain.tried,
    }
    if np.isnan(gain.low):
        return columns | {"reason": NOT_REPLICATED}
    if np.isnan(panel.bias):
        return columns | {"reason": NO_NULL}
    if gain.verdict != BETTER:
        return columns | {"reason": "open: no gain is beyond chance and possible bias"}
    if contradicts(setting.rule, arm, value, panel):
        return columns | {"reason": LOSS.format(arm=arm)}
    everywhere = isinstance(setting.rule, Onset) and cells.min() == panel.x.min()
    return columns | _recommended(setting, value, arm, everywhere)


def _recommended(setting: Setting, value: Value, arm: str, everywhere: bool = False) -> Row:
    """The columns of a recommendation; `everywhere` if the value changes every measured point."""
    texts = setting.snippet
    snippet = texts if isinstance(texts, str) else texts.get(value) or texts[arm]
    if everywhere:
        snippet = setting.everywhere.get(arm, snippet)
    return {"recommended": True, "value": json.dumps(value), "snippet": snippet.replace("{value}", json.dumps(value))}


def _not_measured(arms: Sequence[str], panel: Panel) -> Row:
    named = [f"`{arm}`" for arm in arms]
    configured = any(arm in panel.configured for arm in arms)
    why = "has no value here" if configured else "is not among the arms of this run's configuration"
    return {"reason": f"not measured: {' or '.join(named)} {why}"}
