"""The method of judging a claim, in words: quantity, data, test, bound."""

from collections.abc import Mapping
from typing import Any

from crossover.analyse.claims.candidates import Quantity
from crossover.analyse.claims.result import Place, Result
from crossover.analyse.claims.verdict import Range
from crossover.planning.plan import SECOND_SWEEP
from crossover.records.record import CONFIDENCE, SIGNIFICANCE

QUANTITIES = {
    "value": "{Metric} of {arm}",
    "ratio": "{Metric} of {arm} divided by that of {over}",
    "contrast": "The ratio of two ratios: {metric} of {arm} over {over}{place}, divided by "
    "{other_metric}{other_experiment} of {other_arms}{other_place}",
    "time": "The time of one repetition of {arm}, the inverse of its {metric}",
    "penalty": "The time of one repetition of {arm}, minus that of {over} at the first point, averaged over the axis",
    "crossover": "The crossover of {arm} and {over} in {metric}",
    "crossovers": "The crossover of {arm} and {over} in {metric}, divided by the crossover in {other_metric}",
    "loss": "{Metric} of the better arm divided by that of the chosen one, {arm} from {threshold:,.10g} on and {over} "
    "below, at each point",
    "gap": "The share of the gap from {over} to `{of}` that {arm} covers, on a logarithmic scale",
    "saturation": "The first point where {metric} of {arm} times the axis reaches {share:.0%} of its maximum",
    "scaling": "{Metric} of {arm} at {to:,.10g} divided by that at {from:,.10g}",
}
"""The words for each kind of quantity."""

READINGS = {
    "each": " at each measured point of{part}",
    "mean": ", averaged over{part}",
    "slope": ": its slope over{part}, on logarithmic scales",
    "peak": ", each at its largest value over{part}",
}
"""The words for each reading of a part of the axis."""


def method(quantity: Quantity, found: Result | None, expected: Range) -> str:
    """The method of one claim in sentences, without details of the measurement if `found` is None."""
    parts = [f"{_quantity(quantity, _reading(quantity, found))}{_data(found)}", _test(quantity, found, expected)]
    return "".join(f"{part}. " for part in parts).strip()


def _quantity(quantity: Quantity, place: str) -> str:
    metric, over, against = quantity["metric"], quantity.get("over", []), quantity.get("against", {})
    words = {
        "arm": f"`{quantity['arm']}`",
        "over": _arms(over, metric),
        "Metric": metric.capitalize(),
        "other_arms": f"`{against.get('arm', quantity['arm'])}` over {_arms(against.get('over', over), '')}",
        "place": place,
        "other_place": f" at {against['at']:,.10g}" if "at" in against else "",
        "other_metric": against.get("metric", metric),
        "other_experiment": f" of `{against['experiment']}`" if "experiment" in against else "",
    }
    form = QUANTITIES[quantity["kind"]]
    return form.format_map({**quantity, **words}) + ("" if "{place}" in form else place)


def _arms(over: Any, metric: str) -> str:
    if isinstance(over, Mapping):
        own = f"`{over['arm']}`" if "arm" in over else "the same arm"
        return f"{own} in {over.get('metric', metric)}"
    return ", ".join(f"`{arm}`" for arm in ([over] if isinstance(over, str) else over))


def _reading(quantity: Quantity, found: Result | None) -> str:
    unit = found.curves[0].facts["axis_unit"] if found else ""
    if "at" in quantity:
        between = found.between if found and found.between else ()
        at, *ends = (f"{x:,.10g} {unit}".strip() for x in (quantity["at"], *between))
        return f" at {at}" + (f", interpolated between the measured points {' and '.join(ends)}" if ends else "")
    for name, words in READINGS.items():
        if name in quantity:
            ends = [f" {end} {quantity[name][end]:,.10g}" for end in ("from", "to") if end in quantity[name]]
            if points := quantity[name].get("points"):
                ends.append(f" at {', '.join(f'{point:,.10g}' for point in points)}")
            return words.format(part="".join([f" {unit} of the axis" if unit and ends else " the axis", *ends]))
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
            "for the possible bias; holds if the whole interval lies within the range"
        )
    several = ", Holm-corrected for several numbers," if found and len(found.known.mean) > 1 else ""
    refuted = (
        f"Refuted if a t test{several} shows it outside the expected range by more than the possible bias, at "
        f"{SIGNIFICANCE * 100:g} %"
    )
    if expected.equivalent:
        return f"{refuted}; holds if two one-sided t tests show it within"
    return f"{refuted}; holds if its whole {CONFIDENCE * 100:g} % interval lies within and noise does not explain it"
