"""Rank 0 of a launch: runs the sampler at the paces of earlier launches, prints the progress, writes the part file."""

import faulthandler
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from crossover.design import experiments
from crossover.design.arm import Arm, arms_of
from crossover.design.cell import Cell, Metric
from crossover.design.experiments import Experiment
from crossover.design.launch import Launch
from crossover.design.protocol import KEYS, identity
from crossover.measure.launch.driver import Driver
from crossover.measure.ranks.peers import Peers
from crossover.measure.ranks.provenance import Disturbance
from crossover.measure.sampling.contract import Block, Blocks
from crossover.measure.sampling.sampler import CONNECTION, END, Pace, Paces, Phases, Place, Sample, Sampler
from crossover.records import record
from crossover.records.holes import HoleKind, Refusal

BLOCK_LIMIT_SECONDS = 120
"""A block that takes longer hangs: the rank prints its stacks and exits, and the launch becomes a hole."""

SHORTEST_SECONDS = 1e-9
"""No repetition is shorter, so such a pace is of a damaged file."""

NEWEST = 8
"""The earlier raw files that are read: launches differ in their arms and cells."""

_CURVE = list(KEYS)
_BLOCK = ["x", "runs", "n", "start_ns", "block_seconds"]


def conduct(
    measured: Driver,
    peers: Peers,
    launch: Launch,
    part: Path,
    guard: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    """Measure every cell of the launch and write it to `part`.

    `guard` surrounds the measurement within the driver's context, so that it sees an exception before the driver ends
    its processes, which may fail too.
    """
    started = datetime.now(UTC)
    kind, settings = experiments.of(launch.experiment), launch.settings
    phases = Phases()
    with ExitStack() as driver:
        with phases.during(CONNECTION):
            blocks = driver.enter_context(measured.drive(peers, settings))
        driver.enter_context(guard())
        guarded = Guarded(blocks, launch.experiment, kind.metrics)
        report = partial(_report, str(launch))
        sampler = Sampler(
            guarded,
            settings,
            Random(str(launch)),
            disturbance=Disturbance(),
            progress=report,
            phases=phases,
            paces=earlier_paces(part.parent),
        )
        samples = list(sampler.sample(list(measured.cells(settings)), arms_of(settings)))
        with phases.during(END):
            driver.close()
    rows = [launch.identity | row for sample in samples for row in _rows(kind, settings.reference, sample)]
    if not rows:
        raise Refusal(
            HoleKind.EXCEPTION,
            f"no block of the driver of {launch.experiment} returned a value or a fault; correct the driver",
        )
    if all(row["value"] is None for row in rows):
        fault, most = Counter(row["validity"] for row in rows).most_common(1)[0]
        raise Refusal(
            HoleKind.EXCEPTION, f"no block has a value; {most} of {len(rows)} values are missing because: {fault}"
        )
    facts = launch.identity | {
        "started_utc": started.isoformat(timespec="milliseconds"),
        "host": peers.ranks[0]["host"],
        "timed_seconds": sum(seen.block.seconds for sample in samples for seen in sample.observations),
        "notes": getattr(blocks, "notes", ""),
        "phases": {name: round(seconds, 3) for name, seconds in phases.seconds.items()},
    }
    table = pa.Table.from_pylist(rows, schema=record.MEASUREMENTS)
    record.write(table, part, {"launch": facts, "ranks": [launch.identity | rank for rank in peers.ranks]})


class Guarded:
    """Blocks with a deadline, which prints every thread's stack and ends the process, even inside C code."""

    def __init__(self, blocks: Blocks, experiment: str, metrics: Sequence[Metric]):
        self._blocks, self._experiment = blocks, experiment
        self._declared = [metric.name for metric in metrics]

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Run the block; sets the deadline outside the timed part. Raises Refusal for an undeclared metric."""
        faulthandler.dump_traceback_later(BLOCK_LIMIT_SECONDS, exit=True)
        try:
            block = self._blocks.run(cell, arm, n)
        finally:
            faulthandler.cancel_dump_traceback_later()
        if unknown := [name for name in block.values if name not in self._declared]:
            raise Refusal(
                HoleKind.EXCEPTION,
                f"the driver of {self._experiment} returned unknown metric {unknown[0]!r} for arm {arm.name}; its "
                f"metrics are {', '.join(self._declared)}; add the metric to its declaration, or correct the driver",
            )
        return block


def _report(launch: str, done: int, of: int, sample: Sample, gone_seconds: float, left_seconds: float) -> None:
    """Print one line about a visit of a cell. The supervisor passes it to the terminal and the log."""
    rounds = len({seen.round for seen in sample.observations})
    stopped = f" stopped by {sample.stop}," if sample.stop else ""
    print(
        f"{launch}: visit {done} of {of} ({sample.cell.protocol}, {sample.cell.x}), {rounds} rounds,{stopped} "
        f"{gone_seconds:.0f} s elapsed, about {left_seconds:.0f} s left",
        file=sys.stderr,
        flush=True,
    )


def _rows(kind: Experiment, reference: str, sample: Sample) -> Iterator[dict[str, Any]]:
    """The rows of `record.MEASUREMENTS` without the launch's identity: one per block and metric, and one for each pair.

    A cell has every metric for which any of its blocks has a value, or all metrics if no block has any value. For a
    metric without a value, a block has a row only if it has a fault.
    """
    valued = {name for seen in sample.observations for name in seen.block.values}
    metrics = [metric for metric in kind.metrics if metric.name in valued or not valued]
    fixed = {"protocol": sample.cell.protocol, **sample.cell.keys}
    for seen, metric in product(sample.observations, metrics):
        if metric.name not in seen.block.values and not seen.block.fault:
            continue
        row = fixed | {
            "arm": seen.arm.name,
            "runs": seen.arm.runs,
            "reference": reference,
            "is_null_arm": seen.arm.null,
            "ceiling": seen.arm.ceiling,
            "axis": kind.axis.name,
            "axis_unit": kind.axis.unit,
            "x": seen.cell.x,
            "metric": metric.name,
            "unit": metric.unit,
            "better": metric.better,
            "levels": metric.levels,
            "stop": sample.stop,
            "round": seen.round,
            "position": seen.position,
            "n": seen.n,
            "start_ns": seen.start_ns,
            "block_seconds": seen.block.seconds,
        }
        yield row | {"value": seen.block.values.get(metric.name), "validity": seen.validity}
        for pair in seen.block.pairs:
            result = {"value": pair.values.get(metric.name), "validity": pair.fault or seen.validity}
            yield row | result | dict(zip(("first_rank", "second_rank"), pair.ranks, strict=True))


def earlier_paces(folder: Path) -> Paces:
    """The paces in the newest raw files in `folder`; none without one.

    They only save time: the sampler checks each by its first block, so those of another machine or version do no harm.
    A damaged file is named and left out.
    """
    found: dict[Place, Pace] = {}
    raws = sorted(folder.glob("launch=*.parquet"), key=lambda raw: raw.stat().st_mtime_ns)
    for raw in raws[-NEWEST:]:
        # Not record.read, whose checksum imports pandas: this process's memory is measured.
        try:
            with record.opened(raw) as file:
                table = file.read([*_CURVE, *_BLOCK, "value"], use_threads=False)
            found |= _paces_in(table.filter(pc.is_valid(table["value"])))
        except record.DAMAGE as error:
            fault = record.RecordError(raw, f"has no usable times of blocks ({error})", "delete it")
            print(fault, file=sys.stderr, flush=True)
    return found


def _paces_in(rows: pa.Table) -> dict[Place, Pace]:
    keys, blocks = (rows.select(names).to_pydict().values() for names in (_CURVE, _BLOCK))
    cells = defaultdict[tuple[Any, ...], set[tuple[Any, ...]]](set)
    # A block has a row for each of its metrics.
    for names, (x, *block) in zip(zip(*keys, strict=True), zip(*blocks, strict=True), strict=True):
        cells[*names, x].add(tuple(block))
    found = {}
    for (*values, x), own in cells.items():
        curve = identity(dict(zip(_CURVE, values, strict=True)) | {"protocol": ""})
        around = _around([start_ns / 1e9 for _, _, start_ns, _ in own], [seconds for *_, seconds in own])
        for alternative in {runs for runs, *_ in own}:
            # The median, because an interruption lasts longer than many a block.
            repetition = median(seconds / n for runs, n, _, seconds in own if runs == alternative)
            if SHORTEST_SECONDS <= repetition <= BLOCK_LIMIT_SECONDS and around <= BLOCK_LIMIT_SECONDS:
                found[curve, x, alternative] = Pace(repetition, around)
    return found


def _around(starts: list[float], seconds: list[float]) -> float:
    """The seconds of a cell's blocks besides their timed parts: the median, because other cells come between visits."""
    blocks = sorted(zip(starts, seconds, strict=True))
    gaps = [after - start - timed for (start, timed), (after, _) in pairwise(blocks)]
    return max(0.0, median(gaps)) if gaps else 0.0
