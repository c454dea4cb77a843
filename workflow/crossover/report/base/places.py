"""Chooses the points of an axis that a table shows."""

from __future__ import annotations

import math
from collections.abc import Iterable


def sampled(places: list[float], count: int) -> list[float]:
    """At most `count` of the places, evenly spread, including the first and the last.

    >>> sampled([1, 2, 3, 4, 5, 6, 7], 3)
    [1, 4, 7]
    """
    if len(places) <= count:
        return places
    return [places[round(step * (len(places) - 1) / (count - 1))] for step in range(count)]


def nearest(places: Iterable[float], wanted: float) -> float | None:
    """The place nearest to `wanted` by ratio, if it is within a factor of two.

    >>> nearest([100, 464, 1000], 500), nearest([100, 1000], 317)
    (464, None)
    """
    near = [place for place in places if wanted / 2 <= place <= wanted * 2]
    return min(near, key=lambda place: abs(math.log(place / wanted)), default=None)
