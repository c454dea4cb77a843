"""What a panel shows: crossovers, ratios and thresholds in lines of tables, and as texts of charts.

A threshold is the point from which an arm reaches a level such as half efficiency. The texts of charts are for readers
who cannot see them. No number is typed.
"""

import math
from collections.abc import Iterable, Sequence

from crossover import farms
from crossover.design.protocol import identity
from crossover.design.settings import read_settings
from crossover.records.outcome import ALIKE, OPEN, Outcome
from crossover.report.text import markup, numbers
from crossover.report.text.tables import Panel, Row, at, competes, grouped

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

SAMPLED_POINTS = 5


def alone(panel: Panel) -> str:
    """The arms of a panel in which none could be compared with another; empty otherwise."""
    if panel.compared:
        return ""
    arms = [f"`{arm}`" for arm in panel.arms if arm != panel.null] or ["the null arm"]
    seen = f"only {numbers.listed(arms)} {'has' if len(arms) == 1 else 'have'} data"
    return f"**{panel.title}.** No arm could be compared with another: {seen}."


def _word(panel: Panel, cell: Row) -> str:
    """The comparative for the arm, such as `faster`, from its ratio without the interval."""
    better, worse = numbers.comparatives(panel.unit)
    return better if (cell["ratio"] > 1) == (cell["better"] == "higher") else worse


def _possible_range(panel: Panel, arm: str) -> str:
    """The possible range of a single undetected crossover; empty if it could be anywhere."""
    row, cells = panel.crossover_of(arm), panel.ratios_of(arm)
    if row is None or row["x"] is not None or row["low"] is None or row["high"] is None:
        return ""
    low, high = (numbers.quantity(row[end], row["axis_unit"], 2) for end in ("low", "high"))
    # If an end of the axis is not rejected, the crossover may be beyond it.
    above, below = row["low"] > cells[0]["x"], row["high"] < cells[-1]["x"]
    if above and below:
        return f"between {low} and {high}"
    return f"at {low} or above" if above else f"at {high} or below" if below else ""


def verdict(panel: Panel, arm: str) -> str:
    """The verdict in two or three words, for a table."""
    row = panel.crossover_of(arm)
    if row is None:
        return "not examined"
    if row["launches"] < 2:
        return "not replicated"
    match row["verdict"]:
        case "one":
            return f"{_beyond(panel, arm)} above it"
        case "always":
            return f"always {_beyond(panel, arm)}"
        case "none":
            rest = {OPEN, ALIKE} & {cell["verdict"] for cell in panel.ratios_of(arm)}
            return " or ".join([_beyond(panel, arm), *sorted(rest)])
        case "several":
            return "crosses several times"
        case other:
            return str(other)


def _beyond(panel: Panel, arm: str) -> str:
    """The comparative for `arm` at the last decided point."""
    decided = [cell for cell in panel.ratios_of(arm) if Outcome.of(cell).is_decided]
    return _word(panel, decided[-1])


def refinement(panel: Panel, launches: Iterable[Row]) -> str:
    """The launches and points of the refinement for a panel's curves; empty if there are none."""
    seen: dict[int, list[int]] = {}
    for row in launches:
        here = (row["experiment"], row["placement"]) == (panel.experiment, panel.placement)
        cells = read_settings(row["settings"]).get("cells", {}) if here and row["outcome"] == "measured" else {}
        if points := cells.get(identity(panel.facts)) or cells.get(panel.protocol):
            seen[row["launch"]] = points
    if not seen:
        return ""
    launched, places = sorted(seen), sorted(set().union(*seen.values()))
    which = f"{launched[0]} to {launched[-1]}" if len(launched) > 1 else f"{launched[0]}"
    first, last = (numbers.quantity(place, panel.facts["axis_unit"]) for place in (places[0], places[-1]))
    return (
        f"A refinement of {numbers.counted(len(launched), 'launch')} (number {which}) added "
        f"{numbers.counted(len(places), 'point')} from {first} to {last}, inside the crossovers of the first."
    )


def threshold_lines(panel: Panel) -> list[dict[str, str]]:
    """A line for each arm and level."""
    return [
        {
            "protocol": panel.title,
            "arm": f"`{row['arm']}`",
            "level": numbers.percent(level),
            "reached": reached(row),
            "between measured points": numbers.bracket(row["bracket_low"], row["bracket_high"], row["axis_unit"]),
        }
        for level in levels(panel)
        for row in _of_level(panel, level)
    ]


def threshold_sentences(panel: Panel) -> str:
    """The threshold of each level, arm by arm; empty for a metric without levels."""
    parts = []
    for level in levels(panel):
        clauses = [f"`{row['arm']}` {reached(row)}" for row in _of_level(panel, level)]
        parts.append(f"{panel.metric.capitalize()} of at least {numbers.percent(level)}: {'; '.join(clauses)}.")
    return " ".join(parts)


def levels(panel: Panel) -> list[float]:
    """The levels, rising; most metrics have none."""
    return sorted({row["level"] for row in panel.thresholds})


def _of_level(panel: Panel, level: float) -> list[Row]:
    """In the order of the arms, without the null arm, which repeats the reference."""
    found = {row["arm"]: row for row in panel.thresholds if row["level"] == level}
    return [found[arm] for arm in panel.arms if arm in found and arm != panel.null]


def reached(row: Row) -> str:
    """The verdict, to follow the name of an arm."""
    if row["launches"] < 2:
        return "not replicated"
    unit = row["axis_unit"]
    at = "" if row["x"] is None else numbers.position(row["x"], row["low"], row["high"], unit)
    ends = (row["bracket_low"], row["bracket_high"])
    low, high = ("" if end is None else numbers.quantity(end, unit) for end in ends)
    return THRESHOLDS.get(row["verdict"], OPEN).format(at=at, low=low, high=high)


def crossover_lines(panel: Panel) -> list[dict[str, str]]:
    """A line for each arm that was compared with the reference."""
    return [
        {
            "protocol": panel.title,
            "arms": f"`{arm}` / `{panel.reference}`",
            "verdict": verdict(panel, arm),
            **_crossover_place(row, _possible_range(panel, arm)),
        }
        for arm in panel.rivals
        if (row := panel.crossover_of(arm))
    ]


def _crossover_place(row: Row, possible: str) -> dict[str, str]:
    """The crossover and the measured points around it; without a single crossover, its possible range."""
    where, around = f"none found; one could lie {possible}" if possible else "–", "–"
    if row["launches"] > 1 and row["verdict"] == "one" and row["x"] is not None:
        where = numbers.position(row["x"], row["low"], row["high"], row["axis_unit"])
        around = numbers.bracket(row["bracket_low"], row["bracket_high"], row["axis_unit"])
    return {"crossover": where, "between measured points": around}


def ratio_lines(panels: Sequence[Panel]) -> list[dict[str, str]]:
    """A line for each arm that was compared, with its ratios at a few points of the axis, including both ends."""
    curves = [(panel, arm) for panel in panels for arm in panel.compared]
    places = sorted({cell["x"] for panel, arm in curves for cell in panel.ratios_of(arm)})
    steps = range(SAMPLED_POINTS)
    shown = list(dict.fromkeys(places[round(step * (len(places) - 1) / steps[-1])] for step in steps if places))
    lines = []
    for panel, arm in curves:
        cells = {cell["x"]: numbers.ratio(cell["ratio"], cell["low"], cell["high"]) for cell in panel.ratios_of(arm)}
        at = {numbers.quantity(x, panels[0].facts["axis_unit"]): cells.get(x, "–") for x in shown}
        lines.append({"protocol": panel.title, "arms": f"`{arm}` / `{panel.reference}`"} | at)
    return lines


def lists(panel: Panel) -> str:
    """By how much the best call that takes a list of tasks beats the best call for each task; empty if it does not,
    or without both."""
    best: dict[bool, dict[float, Row]] = {True: {}, False: {}}
    slowest: dict[float, float] = {}
    for row in filter(competes, panel.summary):
        if row["arm"] in (known := farms.arms()) and row["median"]:
            takes, x = farms.gets_a_list(known[row["arm"]]), row["x"]
            best[takes][x] = max(best[takes].get(x, row), row, key=lambda each: float(each["median"]))
            if not takes:
                slowest[x] = min(slowest.get(x, math.inf), row["median"])
    both = sorted(best[True].keys() & best[False].keys())
    if not both or panel.facts["better"] != "higher":
        return ""
    gains = sorted(best[True][x]["median"] / best[False][x]["median"] for x in both)
    spread = max(best[False][x]["median"] / slowest[x] for x in both)
    if gains[0] <= 1:
        return ""
    gain = " to ".join(dict.fromkeys(numbers.significant(end, 2) for end in (gains[0], gains[-1])))
    names = [numbers.listed([f"`{arm}`" for arm in sorted({best[takes][x]["arm"] for x in both})]) for takes in best]
    return (
        f"By medians, the best call that takes a list of tasks ({names[0]}) is {gain} times as fast as the "
        f"best call for each task ({names[1]}). Called for each task, farms differ by up to "
        f"{numbers.significant(spread, 2)} times."
    )


def described_curves(panel: Panel) -> str:
    """The ends of each arm's curve, and the best arm at both ends of the axis, as plain sentences."""
    curves = ([row for row in panel.summary if row["arm"] == arm] for arm in panel.arms if arm != panel.null)
    ends = " ".join(_curve_ends(cells) for cells in curves if cells)
    return _plain(
        f"Chart of {panel.metric} against {panel.facts['axis']}, {panel.title}; {panel.facts['better']} is better. "
        f"{ends} {_best_at_ends(panel)} {threshold_sentences(panel)}"
    )


def described_ratios(panel: Panel) -> str:
    """What the chart of ratios shows; their numbers are in tables."""
    return _plain(f"Chart of {panel.metric} relative to {panel.reference}, {panel.title}. Tables have its numbers.")


def _curve_ends(curve: list[Row]) -> str:
    ends = [curve[0], curve[-1]] if len(curve) > 1 else curve
    values = (f"{numbers.quantity(row['median'], row['unit'])} at {at(row)}" for row in ends)
    return f"{curve[0]['arm']}: {', '.join(values)}."


def _best_at_ends(panel: Panel) -> str:
    """The arm with the best median at either end of the axis; ceilings do not count."""
    choose = max if panel.facts["better"] == "higher" else min
    places = grouped(sorted(filter(competes, panel.summary), key=lambda row: float(row["x"])), "x")
    named = []
    for place in dict.fromkeys([*places][:1] + [*places][-1:]):
        if len(places[place]) > 1:
            best = choose(places[place], key=lambda row: float(row["median"]))
            named.append(f"{best['arm']} at {at(best)}")
    return f"The best median has {numbers.listed(named)}." if named else ""


def _plain(text: str) -> str:
    return " ".join(markup.plain(text).split())
