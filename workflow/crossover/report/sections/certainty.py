"""The smallest detectable effect and the precision of each experiment, the sources of its noise, and the next run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from crossover.report.base import numbers
from crossover.report.base.tables import Row, place

SURE_HEADER = ["experiment", "protocol", "arms", "smallest detectable effect", "precision", "target"]

NEEDS_HEADER = [
    *("experiment", "protocol", "arms", "noise", "launches × rounds"),
    *("expected precision", "target", "launches × rounds needed", "time per heat"),
]

STEADY_HEADER = ["experiment", "", "series", "flat", "warm-up", "slowdown", "no steady state", "too few rounds"]

GROUPS_HEADER = ["experiment", "protocol", "arms", "at", "ratio of one group", "ratio of the other"]

UNKNOWN = "–"

NAMED = 5
"""The most launches that are listed by number."""


def sure(sensitivity: Iterable[Row], needs: Iterable[Row]) -> list[list[str]]:
    """A line for each rival, under SURE_HEADER: bias, chance and target."""
    wanted = {_curve(row): row["wanted"] for row in needs}
    return [
        [
            *_named(row),
            UNKNOWN if row["smallest_effect"] is None else _beyond(row["smallest_effect"]),
            UNKNOWN if row["resolution"] is None else f"±{_beyond(row['resolution'])}",
            _width(wanted.get(_curve(row))),
        ]
        for row in sensitivity
    ]


def sentences(sensitivity: Iterable[Row]) -> str:
    """The smallest detectable effect and the precision of each experiment in each placement, in words."""
    groups: defaultdict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in sensitivity:
        groups[row["experiment"], row["placement"], row["metric"]].append(row)
    return "\n\n".join(_sentence(*key, rows) for key, rows in groups.items())


def _sentence(experiment: str, placement: str, metric: str, rows: list[Row]) -> str:
    where = f"`{experiment}` in placement `{placement}`, {metric}"
    bias = max((row["smallest_effect"] for row in rows if row["smallest_effect"] is not None), default=None)
    if bias is None:
        return f"{where}: no null arm was replicated, so the smallest detectable effect is unknown."
    text = f"{where}: the null arms show differences of up to {_beyond(bias)}"
    chances = sorted(row["resolution"] for row in rows if row["resolution"] is not None)
    if not chances:
        return f"{text}; no arm was replicated."
    best, worst = (f"±{_beyond(chance)}" for chance in (chances[0], chances[-1]))
    return f"{text}; the precision of the rivals is {best}{f' at best, {worst} at worst' if worst != best else ''}."


def needs(rows: Iterable[Row]) -> list[list[str]]:
    """A line for each rival, under NEEDS_HEADER."""
    return [
        [
            *_named(row),
            _noise(row),
            f"{row['launches']} × {row['rounds']}",
            _width(row["half_width"]),
            _width(row["wanted"]),
            _times(row["launches_needed"], row["rounds_needed"]),
            UNKNOWN if row["seconds_needed"] is None else numbers.duration(row["seconds_needed"]),
        ]
        for row in rows
    ]


def _noise(row: Row) -> str:
    if row["launch_share"] is None:
        return "not replicated"
    return ", ".join(f"{name} {numbers.percent(row[f'{name}_share'])}" for name in ("launch", "round", "order"))


def _times(launches: int | None, rounds: int | None) -> str:
    return UNKNOWN if launches is None else f"{launches:,} × {rounds:,}"


def steady(counts: Iterable[Row]) -> list[list[str]]:
    """Two lines for each experiment and placement, under STEADY_HEADER; `counts` as for `unsettled`."""
    found: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for row in counts:
        for kind, column in (("values", "state"), ("ratios", "ratio_state")):
            if row[column] is not None:
                found[place(row), kind][row[column]] += row["series"]
    return [
        [name, kind, f"{tally.total():,}", *(f"{tally[state]:,}" for state in STEADY_HEADER[3:])]
        for (name, kind), tally in found.items()
    ]


def unsettled(counts: Iterable[Row]) -> str:
    """The launches with ratios without a steady state, by experiment and placement, the worst first.

    `counts` are rows of experiment, placement, launch, state, ratio_state, and `series`, the number of series.
    """
    missed: defaultdict[str, Counter[int]] = defaultdict(Counter)
    judged: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for row in counts:
        if row["ratio_state"] not in (None, "too few rounds"):
            judged[place(row)][row["launch"]] += row["series"]
            if row["ratio_state"] == "no steady state":
                missed[place(row)][row["launch"]] += row["series"]
    return "\n\n".join(_unsettled(name, missed[name], judged[name]) for name in judged)


def _unsettled(name: str, missed: Mapping[int, int], judged: Mapping[int, int]) -> str:
    if not missed:
        return f"{name}: every ratio with enough rounds has a steady state."
    worst = sorted(missed, key=lambda launch: (-missed[launch] / judged[launch], launch))
    parts = [f"launch {launch} ({missed[launch]:,} of {judged[launch]:,})" for launch in worst[:NAMED]]
    if others := len(worst) - len(parts):
        parts.append(f"{others:,} more")
    return f"{name}: ratios without a steady state occur in {numbers.listed(parts)}."


def groups(rows: Sequence[Row]) -> list[list[str]]:
    """A line under GROUPS_HEADER for each point whose launches form two groups, given a row for each group."""
    return [
        [*_named(lower), numbers.quantity(lower["x"], lower["axis_unit"]), _group(lower), _group(upper)]
        for lower, upper in zip(rows[::2], rows[1::2], strict=True)
    ]


def _group(row: Row) -> str:
    """A group's mean ratio and launches."""
    few = row["launches"] <= NAMED
    who = (
        f"{'launch' if row['launches'] == 1 else 'launches'} {row['members']}" if few else f"{row['launches']} launches"
    )
    return f"{numbers.ratio(row['ratio'], None, None)} ({who})"


def _named(row: Row) -> list[str]:
    return [place(row), row["protocol"], f"`{row['arm']}` / `{row['reference']}`"]


def _curve(row: Row) -> Sequence[str]:
    return tuple(row[name] for name in ("experiment", "placement", "protocol", "metric", "arm"))


def _beyond(ratio: float) -> str:
    """The distance of a ratio from 1, in per cent."""
    return numbers.percent(ratio - 1)


def _width(fraction: float | None) -> str:
    return UNKNOWN if fraction is None else f"±{numbers.percent(fraction)}"
