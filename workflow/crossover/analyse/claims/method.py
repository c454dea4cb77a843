"""The method of judging a claim, in words: quantity, data, test, bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crossover.analyse.claims.candidates import Quantity
from crossover.analyse.claims.result import Place, Result
from crossover.analyse.claims.verdict import Range
from crossover.planning.plan import SECOND_SWEEP
from crossover.records.record import CONFIDENCE, SIGNIFICANCE


def method(quantity: Quantity, found: Result | None, expected: Range) -> str:
    """The method of one claim in sentences, without details of the measurement if `found` is None."""
    parts = [f"{_quantity(quantity)}{_reading(quantity, found)}{_data(found)}", _test(quantity, found, expected)]
    if found and found.instead:
        parts.append(f"The source's own conditions were not measured ({found.instead})")
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
                f"The time of one repetition of {arm}, minus that of {over} at the first point, averaged over the axis"
            )
        case "crossover":
            return f"The crossover of {arm} and {over} in {metric}"
        case "crossovers":
            other = quantity["against"].get("metric", metric)
            return f"The crossover of {arm} and {over} in {metric}, divided by the crossover in {other}"
        case "loss":
            chosen = f"{arm} from {quantity['threshold']:,.10g} on and {over} below"
            return f"{metric.capitalize()} of the better arm divided by that of the chosen one, {chosen}, at each point"
        case "gap":
            return f"The share of the gap from {over} to `{quantity['of']}` that {arm} covers, on a logarithmic scale"
        case "saturation":
            share = f"{quantity['share']:.0%} of its maximum"
            return f"The first point where {metric} of {arm} times the axis reaches {share}"
        case _:
            ends = f"{quantity['to']:,.10g} divided by that at {quantity['from']:,.10g}"
            return f"{metric.capitalize()} of {arm} at {ends}"


def _arms(over: Any, metric: str) -> str:
    if isinstance(over, Mapping):
        own = f"`{over['arm']}`" if "arm" in over else "the same arm"
        return f"{own} in {over.get('metric', metric)}"
    return ", ".join(f"`{arm}`" for arm in ([over] if isinstance(over, str) else over))


def _reading(quantity: Quantity, found: Result | None) -> str:
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
            return f" at {place(quantity['at'])}, interpolated between the measured points {low} and {high}"
        return f" at {place(quantity['at'])}"
    if "each" in quantity:
        return f" at each measured point of{part(quantity['each'])}"
    if "mean" in quantity:
        return f", averaged over{part(quantity['mean'])}"
    if "slope" in quantity:
        return f": its slope over{part(quantity['slope'])}, on logarithmic scales"
    if "peak" in quantity:
        return f", each at its largest value over{part(quantity['peak'])}"
    return ""


def _data(found: Result | None) -> str:
    if found is None:
        return ""
    refined = any(number > SECOND_SWEEP for curve in found.curves for number in curve.launches)
    second = ", both sweeps" if refined else ""
    if found.apart:
        return f"; from different launches, so each as its ratio to the reference of its own launch{second}"
    if len(found.curves) > 1 and len({curve.facts["experiment"] for curve in found.curves}) == 1:
        return f"; one number per launch that measured all of them{second}"
    return f"; one number per launch{second}"


def _test(quantity: Quantity, found: Result | None, expected: Range) -> str:
    if quantity["kind"] in ("crossover", "crossovers", "saturation") or (found and isinstance(found.known, Place)):
        return (
            "Refuted if the expected range lies outside the measured points that enclose the result, after allowance "
            "for the difference between equal arms; holds if the whole interval lies within the range"
        )
    several = ", Holm-corrected for several numbers," if found and len(found.known.value) > 1 else ""
    refuted = (
        f"Refuted if a t test{several} shows it outside the expected range by more than equal arms differ, at "
        f"{SIGNIFICANCE * 100:g} %"
    )
    if expected.equivalent:
        return f"{refuted}; holds if two one-sided t tests show it within"
    return f"{refuted}; holds if its whole {CONFIDENCE * 100:g} % interval lies within and noise does not explain it"
