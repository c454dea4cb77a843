"""The possible bias and the precision of each experiment."""

from collections.abc import Iterable

from crossover.report.base import numbers
from crossover.report.base.tables import Row, arms, grouped, place

UNKNOWN = "–"

FEW = 4
"""With fewer null cells, false differences are less rare than promised (docs/decisions/choices.md)."""


def sure(sensitivity: Iterable[Row]) -> list[dict[str, str]]:
    """A line for each rival: bias and chance."""
    return [
        _named(row) | {"possible bias": _beyond(row["smallest_effect"]), "precision": _beyond(row["resolution"], "±")}
        for row in sensitivity
    ]


def sentences(sensitivity: Iterable[Row]) -> str:
    """An item on the possible bias and the precision for each experiment in each placement."""
    groups = grouped(sensitivity, "experiment", "placement", "metric").values()
    return "\n".join(f"- {_sentence(rows)}" for rows in groups)


def _sentence(rows: list[Row]) -> str:
    where = "`{experiment}` in placement `{placement}`, {metric}".format(**rows[0])
    bias = max((row["smallest_effect"] for row in rows if row["smallest_effect"] is not None), default=None)
    if bias is None:
        return f"{where}: no null arm was replicated, so the possible bias is unknown."
    room = "show no bias" if bias == 1 else f"leave room for a bias of up to {_beyond(bias)}"
    text = f"{where}: the null arms {room} ({_cells(rows[0]['null_cells'])})"
    chances = sorted(row["resolution"] for row in rows if row["resolution"] is not None)
    if not chances:
        return f"{text}; no arm was replicated."
    best, worst = (f"±{_beyond(chance)}" for chance in (chances[0], chances[-1]))
    return f"{text}; the precision of the rivals is {best}{f' at best, {worst} at worst' if worst != best else ''}."


def _cells(count: int) -> str:
    """The number of null cells behind a possible bias; of few, their limit."""
    few = "; so few can hide a bias that differs from point to point" if count < FEW else ""
    return f"{numbers.counted(count, 'null cell')}{few}"


def _named(row: Row) -> dict[str, str]:
    return {"experiment": place(row), "protocol": row["protocol"], "arms": arms(row)}


def _beyond(ratio: float | None, sign: str = "") -> str:
    """The distance of a ratio from 1, in per cent."""
    return UNKNOWN if ratio is None else f"{sign}{numbers.percent(ratio - 1)}"
