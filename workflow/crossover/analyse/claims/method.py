"""How a claim is judged, in words: which quantity, of which data, by which test, against which bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crossover.analyse.claims.candidates import Quantity
from crossover.analyse.claims.result import Found, Place
from crossover.analyse.claims.verdict import Range
from crossover.planning.plan import SECOND_SWEEP


def method(quantity: Quantity, found: Found | None, expected: Range) -> str:
    """The method of one claim in sentences; without what only a measurement tells where nothing was `found`."""
    parts = [f"{_quantity(quantity)}{_reading(quantity, found)}{_data(found)}", _test(quantity, found, expected)]
    if found and found.instead:
        parts.append(f"The source's own conditions come first, but were not measured ({found.instead})")
    return "".join(f"{part}. " for part in parts).strip()


def _quantity(quantity: Quantity) -> str:
    arm, metric = f"`{quantity['arm']}`", quantity["metric"]
    over = _arms(quantity.get("over", []), metric)
    match quantity["kind"]:
        case "value":
            return f"{metric.capitalize()} of {arm}"
        case "ratio":
            return f"{metric.capitalize()} of {arm} divided by that of {over}"
        case "contrast":
            against = quantity["against"]
            arms = f"`{against.get('arm', quantity['arm'])}` over {_arms(against.get('over', quantity['over']), '')}"
            whose = f" of `{against['experiment']}`" if "experiment" in against else ""
            ratios = f"{metric} of {arm} over {over}, divided by {against.get('metric', metric)}{whose} of {arms}"
            return f"The ratio of two ratios: {ratios}"
        case "time":
            return f"The time of one repetition of {arm}, the inverse of its {metric}"
        case "penalty":
            return (
                f"The time of one repetition of {arm}, less that of {over} at the first point, averaged over the axis"
            )
        case "crossover":
            return f"The place where {arm} passes {over} in {metric}"
        case "crossovers":
            other = quantity["against"].get("metric", metric)
            return f"The place where {arm} passes {over} in {metric}, divided by the place in {other}"
        case "loss":
            chosen = f"{arm} from {quantity['threshold']:,.10g} on and {over} before"
            return f"{metric.capitalize()} of the better arm divided by that of the chosen one, {chosen}, at each point"
        case "gap":
            return f"The share of the way from {over} to `{quantity['of']}` that {arm} covers, on a logarithmic scale"
        case "saturation":
            return f"The first place where {metric} of {arm} times the axis reaches {quantity['share']:.0%} of its most"
        case _:
            ends = f"{quantity['to']:,.10g} divided by that at {quantity['from']:,.10g}"
            return f"{metric.capitalize()} of {arm} at {ends}"


def _arms(over: Any, metric: str) -> str:
    if isinstance(over, Mapping):
        own = f"`{over['arm']}`" if "arm" in over else "the same arm"
        return f"{own} in {over.get('metric', metric)}"
    return ", ".join(f"`{arm}`" for arm in ([over] if isinstance(over, str) else over))


def _reading(quantity: Quantity, found: Found | None) -> str:
    unit = found.curves[0].facts["axis_unit"] if found else ""

    def place(x: float) -> str:
        return f"{x:,.10g} {unit}".strip()

    def part(ends: Mapping[str, float]) -> str:
        low = f" from {ends['from']:,.10g}" if "from" in ends else ""
        high = f" to {ends['to']:,.10g}" if "to" in ends else ""
        return f" {unit} of the axis{low}{high}" if unit and (low or high) else f" the axis{low}{high}"

    if "at" in quantity:
        if found and found.between:
            low, high = (place(x) for x in found.between)
            return f" at {place(quantity['at'])}, where nothing was measured: interpolated between {low} and {high}"
        return f" at {place(quantity['at'])}"
    if "each" in quantity:
        return f" at each measured point of{part(quantity['each'])}"
    if "mean" in quantity:
        return f", averaged over{part(quantity['mean'])}"
    if "slope" in quantity:
        return f": its slope over{part(quantity['slope'])}, both logarithmic"
    if "peak" in quantity:
        return f", each at its largest value over{part(quantity['peak'])}"
    return ""


def _data(found: Found | None) -> str:
    if found is None:
        return ""
    refined = any(number > SECOND_SWEEP for curve in found.curves for number in curve.launches)
    second = ", both sweeps" if refined else ""
    if found.apart:
        return f"; of different launches, so each by its ratio to the reference of its own launch{second}"
    if len(found.curves) > 1 and len({curve.facts["experiment"] for curve in found.curves}) == 1:
        return f"; one number for each launch that measured all of them{second}"
    return f"; one number for each launch{second}"


def _test(quantity: Quantity, found: Found | None, expected: Range) -> str:
    if quantity["kind"] in ("crossover", "crossovers", "saturation") or (found and isinstance(found.known, Place)):
        return (
            "Refuted if the expected range lies outside the measured points that settle where the place is, after "
            "allowing for what equal arms differ by; holds if the whole interval lies within the range"
        )
    several = ", Holm-corrected for the several numbers," if found and len(found.known.value) > 1 else ""
    refuted = f"Refuted if a t test{several} shows it outside the expected range by more than equal arms differ, at 5 %"
    if expected.equivalent:
        return f"{refuted}; holds if two one-sided t tests show it within"
    return f"{refuted}; holds if its whole 95 % interval lies within, and equal arms could not bring it there"
