"""The kinds of quantities that decide claims, computed from curves.

A quantity is one number per launch, or several if the claim is about several points or arms, with a t interval over
launches. Only crossovers invert a test (`readings.passes`). `KINDS` of `claim_list` describes each.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from crossover.analyse.claims import readings
from crossover.analyse.claims.candidates import Candidates, NotMeasuredError, aligned, log_ratio
from crossover.analyse.claims.readings import Place, Reading, Result
from crossover.analyse.estimates.curve import Curve
from crossover.analyse.estimates.intervals import POSITIVE, Estimate, difference, estimate, scale_of
from crossover.config.claim_list import Over, Part, Quantity

MICRO = 1e6
"""Microseconds of a second."""

UNITS = dict.fromkeys(("ratio", "contrast", "crossovers", "loss", "scaling"), "times") | {"time": "µs"}
"""The units of kinds whose unit does not depend on the curve."""


def find(candidates: Candidates, quantity: Quantity) -> Result:
    """A claim's quantity. Raises NotMeasuredError, with the reason, if a curve is missing."""
    found = KINDS[quantity.kind](candidates, quantity)
    if isinstance(found.known, Estimate) and np.isnan(found.known.mean).any() and not found.missing:
        raise NotMeasuredError("no launch measured all the points that it needs")
    return found


def value(candidates: Candidates, quantity: Quantity) -> Result:
    """The arm's own value."""
    curve = candidates.curve(quantity, _by_points(quantity))
    scale = POSITIVE if quantity.slope else scale_of(curve.facts["unit"])
    reading = readings.read(candidates, quantity, curve, curve.x, scale.of_log(curve.values))
    found = _numbers(reading, [curve], curve.facts["unit"], candidates.effect(curve))
    if reading.slope:
        return replace(found, unit="")
    return replace(found, effect=scale.lowered(found.known.mean, found.effect), scale=scale)


def ratio(candidates: Candidates, quantity: Quantity) -> Result:
    """The arm's value divided by that of each named arm."""
    others = quantity.over if isinstance(quantity.over, list) else [quantity.over]
    found, missing = [], []
    for other in others:
        try:
            found.append(_ratio(candidates, quantity, other))
        except NotMeasuredError as error:
            missing.append(error)
    if not found:
        raise NotMeasuredError.of(missing)
    return replace(_joined(found), missing=str(NotMeasuredError.of(missing)) if missing else "")


def _ratio(candidates: Candidates, quantity: Quantity, change: Over) -> Result:
    first, second = (candidates.curve(quantity.changed(which), _by_points(quantity)) for which in (None, change))
    effect = candidates.effect(first)
    if first.facts["metric"] != second.facts["metric"]:
        effect = math.hypot(effect, candidates.effect(second))
    together = aligned(first, second)
    if together[0].launches:
        return _numbers(_shared_ratio(candidates, quantity, *together), [first, second], "", effect)
    # Arms of two launches can each have a bias, independent of the other, and cells that the other lacks.
    shared = [curve.at(np.intersect1d(first.x, second.x)) if quantity.each else curve for curve in (first, second)]
    both = [_ratio_to_reference(candidates, quantity, curve) for curve in shared]
    reading = replace(both[0], estimate=difference(both[0].estimate, both[1].estimate))
    return _numbers(_divided(reading, both[1]), [first, second], "", math.sqrt(2) * effect)


def _shared_ratio(candidates: Candidates, quantity: Quantity, first: Curve, second: Curve) -> Reading:
    if not quantity.peak:
        return readings.read(candidates, quantity, first, *log_ratio(first, second))
    ends = [readings.part(candidates, quantity.peak, curve, curve.x, curve.values)[1] for curve in (first, second)]
    own, other = (readings.rises(quantity.peak, d, candidates.effect(first)) for d in ends)
    return Reading(
        estimate((readings.peaks(ends[0]) - readings.peaks(ends[1]))[:, np.newaxis]), at_least=own, at_most=other
    )


Bounded = TypeVar("Bounded", Reading, Result)


def _divided(first: Bounded, second: Bounded) -> Bounded:
    """The first with the bounds of its ratio to the second."""
    return replace(first, at_least=first.at_least or second.at_most, at_most=first.at_most or second.at_least)


def _ratio_to_reference(candidates: Candidates, quantity: Quantity, curve: Curve) -> Reading:
    """An arm's ratio to the reference of its own launches; without a reference, its own values."""
    reference = candidates.reference(curve)
    together = aligned(curve, reference) if reference else []
    if together and together[0].launches:
        return _shared_ratio(candidates, quantity, *together)
    return readings.read(candidates, quantity, curve, curve.x, curve.values)


def contrast(candidates: Candidates, quantity: Quantity) -> Result:
    """One ratio divided by another from other launches."""
    other = quantity.changed(quantity.against)
    first, second = _ratio(candidates, quantity, quantity.over), _ratio(candidates, other, other.over)
    known = difference(*(found.known for found in (first, second) if isinstance(found.known, Estimate)))
    joined = replace(
        first, known=known, effect=np.hypot(first.effect, second.effect), curves=[*first.curves, *second.curves]
    )
    return _divided(joined, second)


def time(candidates: Candidates, quantity: Quantity) -> Result:
    """The time of one repetition, from a rate."""
    curve = candidates.curve(quantity, _by_points(quantity))
    # The largest rate is the shortest time, so the peak is inverted afterwards.
    reading = readings.read(candidates, quantity, curve, curve.x, curve.values)
    rate = reading.estimate
    known = Estimate(np.log(MICRO) - rate.mean, rate.error, rate.df)
    inverted = replace(reading, estimate=known, at_least=False, at_most=reading.at_least)
    return _numbers(inverted, [curve], "", candidates.effect(curve))


def crossover(candidates: Candidates, quantity: Quantity) -> Result:
    """The crossover of the arm and the other, from every launch."""
    first, second = _together(candidates, quantity)
    effect = candidates.effect(first)
    place = readings.passes(*log_ratio(first, second), effect)
    return Result(place, [first, second], first.facts["axis_unit"], True, np.array([effect]))


def crossovers(candidates: Candidates, quantity: Quantity) -> Result:
    """One crossover divided by another."""
    first, second = crossover(candidates, quantity), crossover(candidates, quantity.changed(quantity.against))
    places = [found.known for found in (first, second) if isinstance(found.known, Place)]
    curves = [*first.curves, *second.curves]
    return Result(readings.apart(*places), curves, "", True, np.maximum(first.effect, second.effect))


def loss(candidates: Candidates, quantity: Quantity) -> Result:
    """The other arm's value divided by that of the arm chosen by a threshold, at each point of the axis."""
    first, second = _together(candidates, quantity)
    x, d = log_ratio(first, second)
    lost = np.where(x < quantity.threshold, d, -d) * (-1.0 if first.facts["better"] == "lower" else 1.0)
    reading = readings.read(candidates, replace(quantity, each=Part()), first, x, lost)
    return _numbers(reading, [first, second], "", candidates.effect(first))


def saturation(candidates: Candidates, quantity: Quantity) -> Result:
    """The first point at which the arm's rate times the axis reaches a share of its maximum."""
    curve = candidates.curve(quantity)
    effect = candidates.effect(curve)
    place, at_end = readings.saturates(curve.x, curve.values + np.log(curve.x), quantity.share, effect)
    return Result(place, [curve], curve.facts["axis_unit"], True, np.array([effect]), at_least=at_end)


def scaling(candidates: Candidates, quantity: Quantity) -> Result:
    """The arm's value at one point divided by its value at another, possibly from other launches."""
    curve = candidates.curve(quantity)
    places = quantity.end, quantity.start
    ends = [readings.at(candidates, place, curve, curve.x, curve.values).estimate for place in places]
    effect = np.array([candidates.effect(curve)])
    return Result(difference(*ends), [curve], "", True, effect)


KINDS: dict[str, Callable[[Candidates, Quantity], Result]] = {
    kind.__name__: kind
    for kind in (
        value,
        ratio,
        contrast,
        time,
        crossover,
        crossovers,
        loss,
        saturation,
        scaling,
    )
}
"""The function of each kind of quantity, which has the kind's name."""


def _by_points(quantity: Quantity) -> bool:
    """Whether a quantity is read at single points, of every launch: means, slopes and peaks are not."""
    return quantity.at is not None or quantity.each is not None


def _together(candidates: Candidates, quantity: Quantity) -> list[Curve]:
    """The arm and the other, restricted to launches that measured both. Raises NotMeasuredError without any."""
    curves = aligned(*(candidates.curve(quantity.changed(change), every=True) for change in (None, quantity.over)))
    if not curves[0].launches:
        raise NotMeasuredError("no launch measured both arms")
    return curves


def _numbers(reading: Reading, curves: list[Curve], unit: str, effect: float) -> Result:
    known, effects = reading.estimate, np.full(len(reading.x), effect * reading.lever)
    arms = [""] * len(effects)
    bounds = {name: getattr(reading, name) for name in ("at_least", "at_most", "between")}
    return Result(known, curves, unit, not reading.slope, effects, reading.x, arms, **bounds)


def _joined(found: list[Result]) -> Result:
    """The same quantity for several arms as one, with a number for each."""
    if len(found) == 1:
        return found[0]
    estimates = [each.known for each in found if isinstance(each.known, Estimate)]
    parts = (np.concatenate([getattr(each, name) for each in estimates]) for name in ("mean", "error", "df"))
    return replace(
        found[0],
        known=Estimate(*parts),
        curves=[found[0].curves[0], *(each.curves[1] for each in found)],
        effect=np.concatenate([each.effect for each in found]),
        x=[x for each in found for x in each.x],
        arms=[each.curves[1].facts["arm"] for each in found for _ in each.x],
        at_least=any(each.at_least for each in found),
        at_most=any(each.at_most for each in found),
    )
