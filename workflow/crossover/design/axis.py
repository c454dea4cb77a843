"""The quantity along which an experiment varies, and its points."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """The quantity that varies, with its unit."""

    name: str
    unit: str


def points(axis: list[int] | dict[str, int]) -> list[int]:
    """The points of an axis in rising order, from a list or from {from, to, per_decade}.

    >>> points({"from": 100, "to": 10000, "per_decade": 3})
    [100, 215, 464, 1000, 2154, 4642, 10000]
    """
    if isinstance(axis, list):
        return sorted(axis)
    decades = math.log10(axis["to"] / axis["from"])
    steps = max(1, round(decades * axis["per_decade"]))
    return sorted({round(axis["from"] * 10 ** (decades * step / steps)) for step in range(steps + 1)})
