"""Costs: of a send in a flood, with the largest rates; of a message and of a byte, from straight lines over size."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from crossover.report.base import numbers
from crossover.report.base.tables import Panel, Row, at, place

LARGE_BYTES = 1e6
"""The size of the large message; the nearest measured size within a factor of two is used."""

UNKNOWN = "–"


def sends(panels: Sequence[Panel]) -> list[dict[str, str]]:
    """A line for each arm, without the null arm, of each curve with a throughput and a send rate."""
    sent_by = {(panel.protocol, panel.placement): panel for panel in panels if panel.metric == "send rate"}
    pairs = [
        (panel, sent_by[panel.protocol, panel.placement])
        for panel in panels
        if panel.metric == "throughput" and (panel.protocol, panel.placement) in sent_by
    ]
    if not pairs:
        return []
    sizes = {row["x"] for _, sent in pairs for row in sent.summary}
    small, large = min(sizes), numbers.nearest(sizes, LARGE_BYTES)
    reference = next((f"`{sent.reference}`" for _, sent in pairs if sent.reference), "the reference")
    near, far = (numbers.quantity(size, "bytes") for size in (small, large or LARGE_BYTES))
    return [
        {
            "protocol": arrived.title,
            "arm": f"`{arm}`",
            "largest throughput, messages/s": _peak(arrived, arm),
            f"largest throughput / that of {reference}": _relative_peak(arrived, arm),
            "largest send rate, messages/s": _peak(sent, arm),
            f"largest send rate / that of {reference}": _relative_peak(sent, arm),
            f"a send of {near}, µs": _microseconds(sent, arm, small),
            f"penalty over {reference}, µs": _penalty(sent, arm, small),
            f"a send of {far}, µs": _microseconds(sent, arm, large),
        }
        for arrived, sent in pairs
        for arm in sent.arms
        if arm != sent.null
    ]


def _peak(panel: Panel, arm: str) -> str:
    """An arm's largest value along the axis, and its place."""
    best = _largest(panel, arm)
    return UNKNOWN if best is None else f"{numbers.significant(best['median'])} at {at(best)}"


def _relative_peak(panel: Panel, arm: str) -> str:
    """An arm's largest value divided by the reference's; at the same size, the ratio of rounds with its interval."""
    best, reference = _largest(panel, arm), _largest(panel, panel.reference)
    if best is None or reference is None or arm == panel.reference:
        return UNKNOWN
    paired = _at(panel.ratios_of(arm), best["x"])
    if paired and best["x"] == reference["x"]:
        return numbers.ratio(paired["ratio"], paired["low"], paired["high"])
    return numbers.significant(best["median"] / reference["median"])


def _microseconds(panel: Panel, arm: str, size: float | None) -> str:
    """The time of a send in µs: the inverse of the send rate and of its interval."""
    row = _at(_values(panel, arm), size)
    if row is None:
        return UNKNOWN
    return numbers.ratio(1e6 / row["median"], *(end and 1e6 / end for end in (row["high"], row["low"])))


def _penalty(panel: Panel, arm: str, size: float) -> str:
    """The extra time of a send over the reference's, in µs: the reference's time * (1 / ratio - 1).

    The interval follows from the ratio's; it does not include the uncertainty of the reference's time.
    """
    reference, paired = _at(_values(panel, panel.reference), size), _at(panel.ratios_of(arm), size)
    if reference is None or paired is None:
        return UNKNOWN
    microseconds = 1e6 / reference["median"]
    value, low, high = (
        ratio and microseconds * (1 / ratio - 1) for ratio in (paired["ratio"], paired["high"], paired["low"])
    )
    return numbers.ratio(value, low, high)


def encryption(panels: Iterable[Panel], entrants: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A sentence for each arm that is the reference without encryption: its cost per task, in the longest flood.

    `entrants` has the options of each arm. Formula: the reference's time * (1 - 1 / ratio of rates); the interval is
    that of the ratio.
    """
    return [
        f"Encryption costs `{panel.reference}` {_encryption(panel, arm)} ({panel.title})."
        for panel in panels
        for arm in panel.compared
        if panel.unit == "tasks/s" and _encrypts(entrants.get(panel.reference, {}), entrants.get(arm, {}))
    ]


def _encryption(panel: Panel, arm: str) -> str:
    cell = max(panel.ratios_of(arm), key=lambda row: float(row["x"]))
    reference = _at(_values(panel, panel.reference), cell["x"])
    if reference is None:
        return UNKNOWN
    microseconds = 1e6 / reference["median"]
    value, low, high = (
        ratio and microseconds * (1 - 1 / ratio) for ratio in (cell["ratio"], cell["low"], cell["high"])
    )
    return f"{numbers.ratio(value, low, high)} of {numbers.significant(microseconds)} µs per task"


def _encrypts(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether only encryption distinguishes the first entrant from the second, which has none."""
    if not first or second.get("encrypted", True):
        return False
    return all(first.get(name) == second.get(name) for name in {*first, *second} - {"alone", "encrypted"})


def _largest(panel: Panel, arm: str) -> Row | None:
    return max(_values(panel, arm), key=lambda row: float(row["median"]), default=None)


def _values(panel: Panel, arm: str) -> list[Row]:
    return [row for row in panel.summary if row["arm"] == arm]


def _at(rows: Sequence[Row], size: float | None) -> Row | None:
    return next((row for row in rows if row["x"] == size), None)


def fits(rows: Iterable[Row]) -> list[dict[str, str]]:
    """A line for each segment of each arm's fit, without the null arm, which repeats the reference."""
    return [
        {
            "experiment": place(row),
            "protocol": row["protocol"],
            "arm": f"`{row['arm']}`",
            "sizes": numbers.bracket(row["first_bytes"], row["last_bytes"], "bytes") if row["segments"] else _why(row),
            "per message": _interval(row, "latency_seconds", "s"),
            "bytes per second": _interval(row, "rate_bytes", "bytes", "/s"),
            "begins at": _interval(row, "break_bytes", "bytes"),
            "misfit": numbers.percent(row["misfit"]) if row["segments"] else UNKNOWN,
        }
        for row in rows
        if not row["null"]
    ]


def _why(row: Row) -> str:
    cells = numbers.counted(row["cells"], "point")
    return "not replicated" if row["launches"] < 2 else f"too few points: {cells} in the same launches"


def _interval(row: Row, name: str, unit: str, per: str = "") -> str:
    if not row["segments"] or row[name] is None:
        return UNKNOWN
    value, low, high = (numbers.quantity(row[f"{name}{end}"], unit, 2) + per for end in ("", "_low", "_high"))
    return f"{value} [{low}, {high}]"
