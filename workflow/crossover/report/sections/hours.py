"""What the time of a run bought: rounds, precision, phases, and the precision that one more hour would give."""

from collections.abc import Iterable, Sequence
from math import sqrt
from statistics import median

from crossover.planning import allocation
from crossover.planning.plan import SECOND_SWEEP
from crossover.report.base import numbers
from crossover.report.base.tables import Row, grouped, place

UNKNOWN = "–"

HOUR_SECONDS = 3600

GROUPS = {
    "start and end": ("entry", "start", "end"),
    "calibration": ("calibration", "warm-up"),
    "arms": ("arms",),
    "null arm": ("null arm",),
    "ceilings": ("ceilings",),
    "around blocks": ("around blocks",),
}
"""The columns for the phases of allocation.PHASES."""


def bought(launches: Iterable[Row], sensitivity: Iterable[Row], needs: Iterable[Row]) -> list[dict[str, str]]:
    """A line for each experiment and placement; rows of these tables, the latter two in the leading metric.

    A second sweep counts only by the precision that it adds.
    """
    first = [row for row in launches if row["outcome"] == "measured" and row["launch"] <= SECOND_SWEEP]
    precise, behind = (grouped(rows, "experiment", "placement") for rows in (sensitivity, needs))
    return [
        _line(own, precise.get(where, []), behind.get(where, []))
        for where, own in grouped(first, "experiment", "placement").items()
    ]


def _line(launches: Sequence[Row], sensitivity: Sequence[Row], needs: Sequence[Row]) -> dict[str, str]:
    apart = allocation.apart(launches)
    seconds = sum((row["entering_seconds"] or 0) + (row["wall_seconds"] or 0) for row in apart)
    spent = allocation.spent(launches)
    parts = {name: sum(spent.get(phase, 0.0) for phase in phases) for name, phases in GROUPS.items()}
    chances = [row["resolution"] for row in sensitivity if row["resolution"] is not None]
    width = median(chances) - 1 if chances else None
    return {
        "experiment": place(launches[0]),
        "launches × rounds": " × ".join(f"{median(row[name] for row in needs):g}" for name in ("launches", "rounds"))
        if needs
        else UNKNOWN,
        "precision": _percent(width),
        "time": numbers.duration(seconds),
        **{name: numbers.percent(part) if spent else UNKNOWN for name, part in parts.items()},
        "after one more hour": _percent(None if width is None else after(width, seconds, HOUR_SECONDS)),
    }


def after(width: float, seconds: float, more_seconds: float) -> float:
    """The half-width of intervals after more launches, in the unit of `width`.

    It falls with the root of the number of launches. Their quantile falls too, so this promises a little too little.

    >>> after(0.1, 1200, 3600)
    0.05
    """
    return width * sqrt(seconds / (seconds + more_seconds))


def _percent(width: float | None) -> str:
    return UNKNOWN if width is None else f"±{numbers.percent(width)}"
