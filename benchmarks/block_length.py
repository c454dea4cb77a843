"""Does the length of a block affect its result? `make bench-blocks` compares blocks with longer ones.

Takes an experiment and, as JSON, changes to its settings. In every round of a launch each arm runs two blocks, one of
the experiment's own length and a long one, in shuffled order. Prints two ratios for each cell, metric and arm: the
value in long blocks / in short ones, and the same for the arm's ratio to the reference, with Student's intervals over
launches. Nothing here passes or fails. `--write` stores those ratios in config/block_lengths.csv that would show a
difference of 10 %; the report sums them up.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import math
import os
import statistics
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import astuple, fields, replace
from pathlib import Path
from random import Random
from typing import Any

from scipy.stats import t

from crossover.config import block_lengths, schema
from crossover.config.block_lengths import LongBlock
from crossover.design.arm import Arm, arms
from crossover.design.cell import Cell
from crossover.design.launch import Launch
from crossover.design.settings import canonical
from crossover.measure.launch import supervisor
from crossover.measure.launch.host_lock import private_folder
from crossover.measure.sampling.contract import Block, Blocks
from crossover.measure.sampling.sampler import Observation, Sampler
from crossover.planning import plan

LONG = " in long blocks"

Key = tuple[str, float, str, str]
"""Protocol, place on the axis, metric, arm."""


class Both:
    """An experiment's blocks; an arm whose name ends with LONG runs in blocks of `seconds`."""

    def __init__(self, blocks: Blocks, short_seconds: float, seconds: float):
        self._blocks, self._short_seconds, self._seconds = blocks, short_seconds, seconds

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Run a block. The time of a long one is understated, so that the sampler raises its repetitions."""
        if not arm.runs.endswith(LONG):
            return self._blocks.run(cell, arm, n)
        known = replace(arm, name=arm.name.removesuffix(LONG), runs=arm.runs.removesuffix(LONG))
        block = self._blocks.run(cell, known, n)
        short_seconds = cell.block_seconds or self._short_seconds
        return replace(block, seconds=block.seconds * short_seconds / self._seconds)


def one_rank(experiment: str, settings: dict[str, Any], seconds: float, answer: Path) -> None:
    """Be one rank of a launch; rank 0 writes the median over rounds of log(long / short)."""
    # Imported here, because these imports start MPI, and the processes that a farm spawns import this file too.
    from crossover.measure.launch import driver, rank

    kind = driver.find(experiment)
    with ExitStack():
        peers = rank._meet(settings, "auto")
        if peers.rank:
            kind.serve(peers, settings)
            return
        normal = arms(settings)
        cells = [
            replace(cell, arms=(*cell.arms, *(name + LONG for name in cell.arms))) for cell in kind.cells(settings)
        ]
        longer = [Arm(arm.name + LONG, arm.runs + LONG, arm.ceiling) for arm in normal]
        with kind.drive(peers, settings) as blocks:
            sampler = Sampler(Both(blocks, settings["block_seconds"], seconds), settings, Random())
            samples = list(sampler.sample(cells, [*normal, *longer]))
        seen = [each for sample in samples for each in sample.observations]
        answer.write_text(
            json.dumps([[*key, value] for key, value in compared(seen, settings["reference"]).items()]),
            encoding="utf-8",
        )


def compared(seen: Sequence[Observation], reference: str) -> dict[Key, float]:
    """Medians over rounds of log(long / short), for each arm's values and for its ratios to the reference."""
    values: dict[tuple[str, float, str], dict[tuple[str, int], float]] = defaultdict(dict)
    for each in seen:
        for metric, value in each.block.values.items():
            values[each.cell.protocol, each.cell.x, metric][each.arm.name, each.round] = math.log(value)
    logs: dict[Key, list[float]] = defaultdict(list)
    for (protocol, x, metric), logged in values.items():
        for (name, turn), short in logged.items():
            long = logged.get((name + LONG, turn))
            if name.endswith(LONG) or long is None:
                continue
            logs[protocol, x, metric, name].append(long - short)
            own = logged.get((reference, turn)), logged.get((reference + LONG, turn))
            if name != reference and None not in own:
                logs[protocol, x, metric, f"{name} / {reference}"].append((long - own[1]) - (short - own[0]))  # type: ignore[operator]
    return {key: statistics.median(found) for key, found in logs.items()}


def launched(experiment: str, settings: dict[str, Any], seconds: float, libraries: Sequence[Path]) -> dict[Key, float]:
    """One launch."""
    launch = Launch(experiment, 1, settings)
    with tempfile.TemporaryDirectory() as folder, private_folder() as private:
        answer = Path(folder) / "answer.json"
        command = [
            *supervisor.starting(launch),
            *(__file__, experiment, canonical(settings)),
            *("--long-seconds", str(seconds), "--answer", str(answer)),
        ]
        subprocess.run(command, check=True, env=supervisor.environment(launch, private, libraries, "auto"))
        return {tuple(key): value for *key, value in json.loads(answer.read_text(encoding="utf-8"))}  # type: ignore[misc]


def main(experiment: str, changes: Mapping[str, Any], seconds: float, launches: int) -> list[LongBlock]:
    """Compare blocks of both lengths; returns a row per cell, metric and arm."""
    from side_by_side import built

    from crossover.measure.launch import driver

    config = schema.complete({"tier": "standard", "experiments": {experiment: dict(changes)}})
    settings = plan.settings_of(config, experiment)
    launch = plan.of_launch(experiment, settings, settings["placements"][0], 1)
    libraries = [built(Path(path).name) for path in plan.libraries(config, experiment)]
    found = [launched(experiment, launch, seconds, libraries) for _ in range(launches)]
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    from crossover.experiments import declared

    unit = declared()[experiment].axis.unit
    short = {
        (cell.protocol, float(cell.x)): float(cell.block_seconds or launch["block_seconds"])
        for cell in driver.find(experiment).cells(launch)
    }
    # Only the leading metric: the tails of a distribution are too noisy to compare.
    led = settings.get("refine_metric")
    leading = {protocol: led for protocol, _, metric, _ in found[0] if metric == led}
    return [
        LongBlock(experiment, *key, unit, short[key[0], key[1]], seconds, len(logs), *interval(logs), today)
        for key in found[0]
        if key[2] == leading.get(key[0], key[2])
        if len(logs := [each[key] for each in found if key in each]) > 1
    ]


def interval(logs: Sequence[float]) -> tuple[float, float, float]:
    """The mean ratio from its logarithms, and its 95 % interval (Student's t)."""
    centre = statistics.mean(logs)
    width = t.ppf(0.975, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(centre), math.exp(centre - width), math.exp(centre + width)


def written(rows: Sequence[LongBlock], file: Path = block_lengths.FILE) -> None:
    """Write the rows that can decide to the file; they replace older ones of the same cell, metric and arm."""
    sharp = [each for each in rows if each.detectable <= block_lengths.DETECTABLE]
    kept = {astuple(each)[:5]: each for each in [*block_lengths.read(file), *sharp]}
    with file.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(field.name for field in fields(LongBlock))
        for _, each in sorted(kept.items()):
            table.writerow(f"{value:.6g}" if isinstance(value, float) else value for value in astuple(each))


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", help="the experiment's name, as in config.yaml")
    parser.add_argument(
        "settings", nargs="?", default="{}", help="changes to its settings at the standard tier, as JSON"
    )
    parser.add_argument(
        "--long-seconds", type=float, default=0.5, help="the length of a long block (default: %(default)s)"
    )
    parser.add_argument("--launches", type=int, default=5, help="independent launches (default: %(default)s)")
    parser.add_argument("--write", action="store_true", help="store the sharp ratios in config/block_lengths.csv")
    parser.add_argument("--answer", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    chosen = arguments()
    if chosen.answer:
        one_rank(chosen.experiment, json.loads(chosen.settings), chosen.long_seconds, chosen.answer)
    else:
        os.environ.setdefault("PYTHONUNBUFFERED", "1")
        rows = main(chosen.experiment, json.loads(chosen.settings), chosen.long_seconds, chosen.launches)
        for each in rows:
            interval_shown = f"{each.ratio:.3f} [{each.low:.3f}, {each.high:.3f}]"
            print(f"{each.protocol}, {each.x:g}, {each.metric}, {each.arm}: {interval_shown}")
        if chosen.write:
            # Ratios to the reference are only printed.
            written([each for each in rows if " / " not in each.arm])
