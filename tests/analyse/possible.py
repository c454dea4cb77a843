"""Synthetic measurements for one claim, of many shapes that a real run could measure."""

import numpy as np
from judged import KEYS, UNITS, X, sides

from crossover.analyse.claims.candidates import Candidates, NotMeasuredError
from crossover.analyse.estimates.curve import Curve

LAUNCHES = 5
RATE = 1e6
"""The rate of every unchanged arm: a repetition takes a microsecond."""
EFFECT = np.log(1.01)

FASTER = ("submission", "round trip")
"""Two rates. The first is never lower, because both count the same tasks from the same start, and a result arrives
after the submission of its task."""


class Possible(Candidates):
    """Curves of which some may be missing or too short."""

    def missing(self, wanted):
        return NotMeasuredError("missing", wanted.arm)

    def beyond(self, curve, place):
        return NotMeasuredError(f"no {place:g}")


def fields(claim, noise, seed=1):
    """Sets of curves in which one of the claim's curves differs from the others; launches differ by `noise`."""
    names = list(dict.fromkeys(sides(claim.quantity)))
    # Two crossovers can be compared only if both pairs of arms cross.
    for tilt in (0.5,) if claim.quantity.kind == "crossovers" else (0.0,):
        for changed in names:
            for shape in shapes(claim):
                random = np.random.default_rng(seed)
                values = {name: np.log(_base(claim, name, tilt)) for name in names}
                values[changed] = np.log(shape)
                yield field(
                    {name: d + noise * random.standard_normal((LAUNCHES, len(X))) for name, d in values.items()}
                )


def _base(claim, name, tilt):
    return RATE * (X / 1000) ** (tilt if name[-1] == claim.quantity.arm else 0.0)


def shapes(claim):
    """Curves that give the quantity values around the ends of the claim's expected range."""
    ends = [end for end in claim.range if np.isfinite(end)]
    places = [factor * end for end in ends for factor in (0.05, 0.3, 0.8, 1.25, 3, 20)] + [np.mean(ends)]
    for place in [*places, claim.quantity.threshold or 1.0]:
        for power in (place, -place):
            yield RATE * X ** np.clip(power, -2, 2)
        if place > 0:
            yield np.full_like(X, place)
            yield np.full_like(X, RATE * place)
            yield np.full_like(X, 1e6 / place)
            yield np.full_like(X, 1 / (1 / RATE + place / 1e6))
            yield RATE * (X / place) ** 0.5
            yield RATE * (X / place) ** -0.5
            yield RATE * np.minimum(1, (place / X) ** 1.2)


def field(values):
    """A set of curves, after impossible values are corrected; `values` of shape (launches, cells)."""
    curves, effects = [], {}
    for (*panel, arm), d in values.items():
        d = d.copy()
        if panel[-1] == "efficiency":
            d = np.minimum(d, 0.0)
        slower = (*panel[:-1], FASTER[1], arm)
        if panel[-1] == FASTER[0] and slower in values:
            d = np.maximum(d, values[slower])
        facts = dict(zip(("experiment", "placement", "protocol", "metric", "arm"), (*panel, arm), strict=True))
        facts |= KEYS[panel[2]]
        facts |= {
            "reference": "",
            "axis_unit": "bytes",
            "unit": UNITS.get(panel[-1], "tasks/s"),
            "better": "higher",
            "is_null_arm": False,
            "ceiling": False,
        }
        nothing = np.full_like(d, np.nan)
        curves.append(Curve(facts, list(range(1, LAUNCHES + 1)), X, d, nothing, nothing, nothing))
        effects[panel[0], panel[1], panel[3]] = EFFECT
    return Possible(curves, effects)
