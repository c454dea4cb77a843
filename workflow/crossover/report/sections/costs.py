"""The cost of sending, from the summary and the ratios of a flood: the largest rates, and the time of one send."""

from __future__ import annotations

from collections.abc import Sequence

from crossover.report.base import numbers
from crossover.report.base.places import nearest
from crossover.report.base.tables import Panel, Row

LARGE_BYTES = 1e6
"""The size of the large message; the nearest measured size within a factor of two is used."""


def table(panels: Sequence[Panel]) -> tuple[list[str], list[list[str]]]:
    """Header and lines of the table on an experiment's panels: a line per curve and arm, without the null arm.

    Both are empty if no curve has both a throughput and a send rate.
    """
    sends = {(panel.protocol, panel.placement): panel for panel in panels if panel.metric == "send rate"}
    pairs = [
        (panel, sends[panel.protocol, panel.placement])
        for panel in panels
        if panel.metric == "throughput" and (panel.protocol, panel.placement) in sends
    ]
    if not pairs:
        return [], []
    sizes = {row["x"] for _, sent in pairs for row in sent.summary}
    small, large = min(sizes), nearest(sizes, LARGE_BYTES)
    lines = [
        [
            arrived.title,
            f"`{arm}`",
            _peak(arrived, arm),
            _relative_peak(arrived, arm),
            _peak(sent, arm),
            _relative_peak(sent, arm),
            _microseconds(sent, arm, small),
            _penalty(sent, arm, small),
            _microseconds(sent, arm, large),
        ]
        for arrived, sent in pairs
        for arm in sent.arms
        if arm != sent.null
    ]
    reference = next((f"`{sent.reference}`" for _, sent in pairs if sent.reference), "the reference")
    near, far = (numbers.quantity(size, "bytes") for size in (small, large or LARGE_BYTES))
    header = [
        *("protocol", "arm"),
        *("largest throughput, messages/s", f"largest throughput / that of {reference}"),
        *("largest send rate, messages/s", f"largest send rate / that of {reference}"),
        *(f"a send of {near}, µs", f"penalty over {reference}, µs"),
        f"a send of {far}, µs",
    ]
    return header, lines


def _peak(panel: Panel, arm: str) -> str:
    """An arm's largest value along the axis, and its place."""
    best = _largest(panel, arm)
    if best is None:
        return "–"
    return f"{numbers.significant(best['median'])} at {numbers.quantity(best['x'], best['axis_unit'])}"


def _relative_peak(panel: Panel, arm: str) -> str:
    """An arm's largest value divided by the reference's; at the same size, the ratio of rounds with its interval."""
    best, reference = _largest(panel, arm), _largest(panel, panel.reference)
    if best is None or reference is None or arm == panel.reference:
        return "–"
    paired = _at(panel.ratios_of(arm), best["x"])
    if paired and best["x"] == reference["x"]:
        return numbers.ratio(paired["ratio"], paired["low"], paired["high"])
    return numbers.significant(best["median"] / reference["median"])


def _microseconds(panel: Panel, arm: str, size: float | None) -> str:
    """The time of a send in µs: the inverse of the send rate and of its interval."""
    row = _at(_values(panel, arm), size)
    if row is None:
        return "–"
    return numbers.ratio(1e6 / row["median"], *(end and 1e6 / end for end in (row["high"], row["low"])))


def _penalty(panel: Panel, arm: str, size: float) -> str:
    """The extra time of a send over the reference's, in µs: the reference's time * (1 / ratio - 1).

    The interval follows from the ratio's; it does not include the uncertainty of the reference's time.
    """
    reference, paired = _at(_values(panel, panel.reference), size), _at(panel.ratios_of(arm), size)
    if reference is None or paired is None:
        return "–"
    microseconds = 1e6 / reference["median"]
    value, low, high = (
        ratio and microseconds * (1 / ratio - 1) for ratio in (paired["ratio"], paired["high"], paired["low"])
    )
    return numbers.ratio(value, low, high)


def _largest(panel: Panel, arm: str) -> Row | None:
    return max(_values(panel, arm), key=lambda row: float(row["median"]), default=None)


def _values(panel: Panel, arm: str) -> list[Row]:
    return [row for row in panel.summary if row["arm"] == arm]


def _at(rows: Sequence[Row], size: float | None) -> Row | None:
    return next((row for row in rows if row["x"] == size), None)
