"""Plans the refinement: more launches, with points inside the brackets of the crossovers.

A bracket is as certain as its two ends, but interpolation cannot show the curve between them, such as a cliff where a
protocol switches. So a refinement measures points inside, in separate launches.
"""

import json
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any

from crossover.analyse.estimates.crossover import crossing
from crossover.analyse.estimates.curve import Curve, blocks, curves, medians
from crossover.analyse.tables.raw_files import gathered
from crossover.design.launch import MOST_LAUNCHES
from crossover.design.protocol import identity, named
from crossover.planning import receipt
from crossover.planning.receipt import Files
from crossover.planning.refinement import SHARE
from crossover.records import atomic
from crossover.records.rows import Launch

Narrowed = dict[str, Any]
"""Additional settings of a launch: `cells`, points of the axis by the identity of a curve, and `budget_seconds`."""


def refine(receipts: list[Path], metric: str, more: int, output: Path, kept: Iterable[Path] = ()) -> None:
    """Write the plan of the refinement to `output`, from the `receipts` of an experiment's first launches.

    It adds about so many `more` points inside each crossover of the `metric`. Measured launches of the refinement,
    the receipts `kept`, keep their cells.
    """
    tables = gathered(receipts)
    every = curves(medians(blocks(tables["measurements"])))
    found = refinement(list(every), [*map(Launch.of, tables["launches"].to_pylist())], metric, more)
    for path in kept:
        held = receipt.read(path)
        stored, (_, placement, number) = receipt.stored_settings(held), held.name
        # A damaged file has no settings, and is measured again.
        if stored:
            found.setdefault(placement, {})[str(number)] = {key: stored[key] for key in ("cells", "budget_seconds")}
    for placement, launches in found.items():
        for curve, points in next(iter(launches.values()))["cells"].items():
            print(f"{placement}, {named(curve)}: {len(launches)} more launches, at {', '.join(map(str, points))}")
    with atomic.replacing(output) as part:
        part.write_text(json.dumps(found, indent=1), encoding="utf-8")


def refinement(
    every: Iterable[Curve], launches: Iterable[Launch], metric: str, more: int
) -> dict[str, dict[str, Narrowed]]:
    """The cells and the budget of each launch of the refinement, by placement and number.

    `launches` are the first ones. Those with the same settings measure the same cells: the
    brackets of their rivals, in this metric. A cell gets the same budget as in the first launches, or less if they
    would take more than the part SHARE of its time.
    """
    chosen = [curve for curve in every if curve.facts["metric"] == metric]
    brackets = [_bracket(curve) if curve.competes else [] for curve in chosen]
    alike: defaultdict[tuple[str, str], list[Launch]] = defaultdict(list)
    for launch in launches:
        alike[launch.placement, Files(Path(launch.receipt)).digest].append(launch)
    found: dict[str, dict[str, Narrowed]] = {}
    for (placement, _), own in alike.items():
        numbers = {launch.launch for launch in own}
        measured: set[tuple[str, float]] = set()
        cells: defaultdict[str, set[int]] = defaultdict(set)
        for curve, bracket in zip(chosen, brackets, strict=True):
            if curve.facts["placement"] == placement and not numbers.isdisjoint(curve.launches):
                measured |= {(identity(curve.facts), x) for x in curve.x}
                cells[identity(curve.facts)] |= set(inside(bracket, more))
        points = {which: sorted(inner) for which, inner in cells.items() if inner}
        if points:
            share = min(SHARE, sum(map(len, points.values())) / len(measured))
            whole = next(launch.settings["budget_seconds"] for launch in own if launch.settings)
            narrowed = {"cells": points, "budget_seconds": round(share * whole, 3)}
            found.setdefault(placement, {}).update((str(MOST_LAUNCHES + number), narrowed) for number in numbers)
    return {placement: dict(sorted(own.items())) for placement, own in found.items()}


def _bracket(curve: Curve) -> list[int]:
    """The measured points from one end of a curve's bracket to the other; none without a bracket."""
    ends = crossing(curve.x, curve.ratios)
    if ends.bracket_low is None or ends.bracket_high is None:
        return []
    return [int(x) for x in curve.x if ends.bracket_low <= x <= ends.bracket_high]


def inside(bracket: list[int], points: int) -> list[int]:
    """The points of a bracket, rising, with about `points` more between them, in even logarithmic steps. Empty if no
    whole number lies between them.

    The old points are measured again, so that some launches measure both of any two neighbours.

    >>> inside([100, 1000], 3)
    [100, 178, 316, 562, 1000]
    >>> inside([33, 34], 3)
    []
    """
    if len(bracket) < 2:
        return []
    steps = ceil(points / (len(bracket) - 1)) + 1
    found = {
        round(low * (high / low) ** (step / steps)) for low, high in pairwise(bracket) for step in range(steps + 1)
    }
    return sorted(found) if len(found) > len(bracket) else []
