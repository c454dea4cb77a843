"""Plans the second sweep: more launches, with points inside the brackets of the crossovers.

A bracket is as certain as its two ends, but interpolation cannot show the curve between them, such as a cliff where a
protocol switches. So a second sweep measures points inside, in separate launches.
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
from crossover.design.protocol import identity, named
from crossover.design.settings import Settings
from crossover.planning import inventory, receipt
from crossover.planning.plan import SECOND_SWEEP, heats, in_placement, of_launch
from crossover.planning.second_sweep import SHARE
from crossover.records import atomic, failure

Narrowed = dict[str, Any]
"""Additional settings of a launch: `cells`, points of the axis by the identity of a curve, and `budget_seconds`."""


def refine(receipts: list[Path], settings: Settings, output: Path, kept: Iterable[Path] = ()) -> None:
    """Write the plan of the second sweep to `output`, from the `receipts` of an experiment's first sweep.

    Measured launches of the second sweep, the receipts `kept`, keep their cells. If this fails, there is no
    second sweep, and the file keeps the reason.
    """
    found: dict[str, dict[str, Narrowed]] = {}
    experiment = output.parent.name
    with failure.caught("second sweep", "", experiment) as failures:
        found = refinement(list(curves(medians(blocks(gathered(receipts)["measurements"])))), experiment, settings)
    for path in kept:
        held = receipt.read(path)
        own = {key: inventory.settings(held)[key] for key in ("cells", "budget_seconds")}
        found.setdefault(held.launch["placement"], {})[str(held.launch["launch"])] = own
    for placement, launches in found.items():
        for curve, points in next(iter(launches.values()))["cells"].items():
            print(f"{placement}, {named(curve)}: {len(launches)} more launches, at {', '.join(map(str, points))}")
    with atomic.replacing(output) as part:
        part.write_text(json.dumps(found | failure.stored(failures), indent=1), encoding="utf-8")


def refinement(every: Iterable[Curve], experiment: str, settings: Settings) -> dict[str, dict[str, Narrowed]]:
    """The cells and the budget of each launch of the second sweep, by placement and number.

    All launches of a heat measure the same cells: the brackets of its rivals, in the refined metric. A cell gets the
    same budget as in the first sweep, or less if they would take more than the part SHARE of its time.
    """
    chosen = [curve for curve in every if curve.facts["metric"] == settings["refine_metric"]]
    brackets = [_bracket(curve) if curve.competes else [] for curve in chosen]
    found: dict[str, dict[str, Narrowed]] = {}
    for placement in settings["placements"]:
        turns = len(heats(experiment, in_placement(experiment, settings, placement)))
        for number in range(1, settings["launches"] * turns + 1):
            measured: set[tuple[str, float]] = set()
            cells: defaultdict[str, set[int]] = defaultdict(set)
            for curve, bracket in zip(chosen, brackets, strict=True):
                in_heat = any((launch - number) % turns == 0 for launch in curve.launches)
                if in_heat and curve.facts["placement"] == placement:
                    measured |= {(identity(curve.facts), x) for x in curve.x}
                    cells[identity(curve.facts)] |= set(inside(bracket, settings["refine_points"]))
            points = {which: sorted(inner) for which, inner in cells.items() if inner}
            if points:
                share = min(SHARE, sum(map(len, points.values())) / len(measured))
                whole = of_launch(experiment, settings, placement, number)["budget_seconds"]
                narrowed = {"cells": points, "budget_seconds": round(share * whole, 3)}
                found.setdefault(placement, {})[str(SECOND_SWEEP + number)] = narrowed
    return found


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
