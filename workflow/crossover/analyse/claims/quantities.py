"""The kinds of quantities that decide claims, computed from curves.

A quantity is one number per launch, or several if the claim is about several points or arms, with a t interval over
launches. Only crossovers invert a test (`positions`). `config/claims.schema.yaml` describes each kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from crossover.analyse.claims.candidates import Candidates, NotMeasuredError, Quantity, aligned, log_ratio, side
from crossover.analyse.claims.positions import apart, passes, saturates
from crossover.analyse.claims.readings import BeyondError, Reading, at, means, part, peaks, read
from crossover.analyse.claims.result import Numbers, Place, Result
from crossover.analyse.curves.curve import Curve
from crossover.analyse.statistics.intervals import Estimate, Floats, difference, estimate
from crossover.analyse.statistics.scale import POSITIVE, of_unit

MICRO = 1e6
"""Microseconds of a second."""

UNITS = dict.fromkeys(("ratio", "contrast", "crossovers", "loss", "scaling"), "times") | {"time": "µs", "penalty": "µs"}
"""The units of kinds whose unit does not depend on the curve."""


def find(candidates: Candidates, quantity: Quantity) -> Result:
    """A claim's quantity, for the first of its alternatives `where` that was measured.

    Raises NotMeasuredError, with the reason, if a curve is missing.
    """
    alternatives = quantity["where"] if isinstance(quantity["where"], list) else [quantity["where"]]
    instead = ""
    for where in alternatives:
        try:
            return replace(_find(candidates, {**quantity, "where": where}), instead=instead)
        except NotMeasuredError as error:
            instead, last = instead or str(error), error
    raise last


def _find(candidates: Candidates, quantity: Quantity) -> Result:
    found = KINDS[quantity["kind"]](candidates, quantity)
    nowhere = isinstance(found.known, Numbers) and bool(np.isnan(found.known.value).any())
    if nowhere and not found.missing:
        raise NotMeasuredError("no launch measured all the points that it needs")
    return found


def value(candidates: Candidates, quantity: Quantity) -> Result:
    """The arm's own value."""
    curve = candidates.curve(side(quantity), _by_points(quantity))
    scale = POSITIVE if "slope" in quantity else of_unit(curve.facts["unit"])
    reading = _read(candidates, quantity, curve, curve.x, scale.of_log(curve.values))
    found = _numbers(reading, [curve], curve.facts["unit"], candidates.effect(curve))
    if reading.slope:
        return replace(found, unit="", neutral=0.0)
    effect = scale.lowered(found.known.value, found.effect)
    return replace(found, known=Numbers(reading.estimate, effect), effect=effect, scale=scale)


def ratio(candidates: Candidates, quantity: Quantity) -> Result:
    """The arm's value divided by that of each named arm."""
    others = quantity["over"] if isinstance(quantity["over"], list) else [quantity["over"]]
    found, missing = [], []
    for other in others:
        try:
            found.append(_ratio(candidates, quantity, other))
        except NotMeasuredError as error:
            missing.append(error)
    if not found:
        raise NotMeasuredError.of(missing)
    return replace(_joined(found), missing=str(NotMeasuredError.of(missing)) if missing else "")


def _ratio(candidates: Candidates, quantity: Quantity, change: str | dict[str, str]) -> Result:
    first, second = (candidates.curve(side(quantity, which), _by_points(quantity)) for which in (None, change))
    effect = candidates.effect(first)
    if first.facts["metric"] != second.facts["metric"]:
        effect += candidates.effect(second)
    together = aligned(first, second)
    if together[0].launches:
        return _numbers(_shared_ratio(candidates, quantity, *together), [first, second], "", effect, neutral=0.0)
    # Equal arms of two launches can each differ from the reference.
    readings = [_ratio_to_reference(candidates, quantity, curve) for curve in (first, second)]
    reading = replace(readings[0], estimate=difference(readings[0].estimate, readings[1].estimate))
    return replace(_numbers(reading, [first, second], "", 2 * effect, neutral=0.0), apart=True)


def _shared_ratio(candidates: Candidates, quantity: Quantity, first: Curve, second: Curve) -> Reading:
    """The ratio of two arms of the same launches."""
    if "peak" not in quantity:
        return _read(candidates, quantity, first, *log_ratio(first, second))
    ends = [_part(candidates, quantity, curve, curve.x, curve.values)[1] for curve in (first, second)]
    return Reading(estimate((peaks(ends[0]) - peaks(ends[1]))[:, np.newaxis]))


def _ratio_to_reference(candidates: Candidates, quantity: Quantity, curve: Curve) -> Reading:
    """An arm's ratio to the reference of its own launches; without a reference, its own values."""
    reference = candidates.reference(curve)
    together = aligned(curve, reference) if reference else []
    if together and together[0].launches:
        return _shared_ratio(candidates, quantity, *together)
    return _read(candidates, quantity, curve, curve.x, curve.values)


def contrast(candidates: Candidates, quantity: Quantity) -> Result:
    """One ratio divided by another from other launches."""
    other = {**quantity, **quantity["against"]}
    first, second = _ratio(candidates, quantity, quantity["over"]), _ratio(candidates, other, other["over"])
    estimates = [found.known.estimate for found in (first, second) if isinstance(found.known, Numbers)]
    known = Numbers(difference(*estimates), first.effect + second.effect)
    return replace(first, known=known, effect=known.effect, curves=[*first.curves, *second.curves])


def time(candidates: Candidates, quantity: Quantity) -> Result:
    """The time of one repetition, from a rate."""
    curve = candidates.curve(side(quantity), _by_points(quantity))
    # The largest rate is the shortest time, so the peak is inverted afterwards.
    reading = _read(candidates, quantity, curve, curve.x, curve.values)
    rate = reading.estimate
    inverted = replace(reading, estimate=Estimate(np.log(MICRO) - rate.mean, rate.error, rate.df))
    return _numbers(inverted, [curve], "", candidates.effect(curve))


def penalty(candidates: Candidates, quantity: Quantity) -> Result:
    """The time of one repetition of the arm minus that of the other at the axis's start, averaged over the axis."""
    first, second = _together(candidates, quantity, quantity["over"])
    own, others = (MICRO * np.exp(-curve.values) for curve in (first, second))
    average = means(first.x, own)
    effect = np.expm1(candidates.effect(first)) * np.nanmean(average) if np.isfinite(average).any() else np.nan
    known = Numbers(estimate((average - others[:, 0])[:, np.newaxis]), np.array([effect]))
    return Result(known, [first, second], "", False, known.effect, neutral=0.0)


def crossover(candidates: Candidates, quantity: Quantity) -> Result:
    """The crossover of the arm and the other, from the points of both sweeps."""
    first, second = _together(candidates, quantity, quantity["over"], refined=True)
    effect = candidates.effect(first)
    place = passes(*log_ratio(first, second), effect)
    return Result(place, [first, second], first.facts["axis_unit"], True, np.array([effect]))


def crossovers(candidates: Candidates, quantity: Quantity) -> Result:
    """One crossover divided by another."""
    first, second = crossover(candidates, quantity), crossover(candidates, {**quantity, **quantity["against"]})
    places = [found.known for found in (first, second) if isinstance(found.known, Place)]
    curves = [*first.curves, *second.curves]
    return Result(apart(*places), curves, "", True, np.maximum(first.effect, second.effect))


def loss(candidates: Candidates, quantity: Quantity) -> Result:
    """The better arm's value divided by that of the arm chosen by a threshold, at each point of the axis."""
    first, second = _together(candidates, quantity, quantity["over"], refined=True)
    x, d = log_ratio(first, second)
    lost = np.where(x < quantity["threshold"], d, -d) * (-1.0 if first.facts["better"] == "lower" else 1.0)
    reading = read({"each": {}}, x, lost)
    return _numbers(reading, [first, second], "", candidates.effect(first), neutral=0.0)


def gap(candidates: Candidates, quantity: Quantity) -> Result:
    """The share of the gap between two arms that a third covers, in logarithms, on average."""
    arm, start, end = _together(candidates, quantity, quantity["over"], quantity["of"])
    ways = [_part(candidates, {"mean": quantity["mean"]}, curve, *log_ratio(curve, start)) for curve in (arm, end)]
    covered, whole = (means(*way) for way in ways)
    mean_way = abs(np.nanmean(whole)) if np.isfinite(whole).any() else np.nan
    share = estimate((covered / whole)[:, np.newaxis])
    effect = candidates.effect(arm) * (1 + np.abs(share.mean)) / mean_way
    return Result(Numbers(share, effect), [arm, start, end], "", False, effect, neutral=0.0)


def saturation(candidates: Candidates, quantity: Quantity) -> Result:
    """The first point at which the arm's rate times the axis reaches a share of its maximum."""
    curve = candidates.curve(side(quantity))
    effect = candidates.effect(curve)
    place, at_end = saturates(curve.x, curve.values + np.log(curve.x), quantity["share"], effect)
    return Result(place, [curve], curve.facts["axis_unit"], True, np.array([effect]), at_least=at_end)


def scaling(candidates: Candidates, quantity: Quantity) -> Result:
    """The arm's value at one point divided by its value at another, possibly from other launches."""
    curve = candidates.curve(side(quantity))
    with _explained(candidates, curve):
        ends = [at(curve.x, curve.values, place).estimate for place in (quantity["to"], quantity["from"])]
    effect = np.array([candidates.effect(curve)])
    return Result(Numbers(difference(*ends), effect), [curve], "", True, effect, neutral=0.0)


KINDS: dict[str, Callable[[Candidates, Quantity], Result]] = {
    "value": value,
    "ratio": ratio,
    "contrast": contrast,
    "time": time,
    "penalty": penalty,
    "crossover": crossover,
    "crossovers": crossovers,
    "loss": loss,
    "gap": gap,
    "saturation": saturation,
    "scaling": scaling,
}
"""The function of each kind of quantity."""


# ---- pieces


def _by_points(quantity: Quantity) -> bool:
    """Whether a quantity is read at single points, and so from both sweeps: means, slopes and peaks use the first."""
    return "at" in quantity or "each" in quantity


def _together(candidates: Candidates, quantity: Quantity, *others: str, refined: bool = False) -> list[Curve]:
    """The arm and the others, restricted to launches that measured all of them. Raises NotMeasuredError without any."""
    curves = aligned(*(candidates.curve(side(quantity, change), refined) for change in (None, *others)))
    if not curves[0].launches:
        raise NotMeasuredError(f"no launch measured {'both' if len(others) == 1 else f'all {len(curves)}'} arms")
    return curves


@contextmanager
def _explained(candidates: Candidates, curve: Curve) -> Iterator[None]:
    """Explain a BeyondError about `curve`."""
    try:
        yield
    except BeyondError as error:
        raise NotMeasuredError(candidates.beyond(curve, error.place)) from None


def _read(candidates: Candidates, quantity: Quantity, curve: Curve, x: Floats, d: Floats) -> Reading:
    with _explained(candidates, curve):
        return read(quantity, x, d, candidates.partial)


def _part(candidates: Candidates, quantity: Quantity, curve: Curve, x: Floats, d: Floats) -> tuple[Floats, Floats]:
    (wanted,) = (quantity[name] for name in ("mean", "peak") if name in quantity)
    with _explained(candidates, curve):
        return part(x, d, wanted, candidates.partial)


def _numbers(reading: Reading, curves: list[Curve], unit: str, effect: float, neutral: float | None = None) -> Result:
    scaled = np.full(len(reading.estimate.mean), effect * reading.lever)
    known = Numbers(reading.estimate, scaled)
    arms = [""] * len(scaled)
    return Result(known, curves, unit, not reading.slope, scaled, neutral, reading.x, arms, between=reading.between)


def _joined(found: list[Result]) -> Result:
    """The same quantity for several arms as one, with a number for each."""
    if len(found) == 1:
        return found[0]
    estimates = [each.known.estimate for each in found if isinstance(each.known, Numbers)]
    parts = (np.concatenate([getattr(each, name) for each in estimates]) for name in ("mean", "error", "df"))
    effect = np.concatenate([each.effect for each in found])
    return replace(
        found[0],
        known=Numbers(Estimate(*parts), effect),
        curves=[found[0].curves[0], *(each.curves[1] for each in found)],
        effect=effect,
        x=[x for each in found for x in each.x],
        arms=[each.curves[1].facts["arm"] for each in found for _ in each.x],
        apart=any(each.apart for each in found),
    )
