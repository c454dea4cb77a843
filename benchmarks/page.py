"""Size of a whole run's page, by tier, and the time to make it: `make bench-page`.

Makes up the raw files of every launch of a tier, with the tier's cells, arms and metrics. Then the workflow derives
everything from them, as for a partial run. Nothing here passes or fails: a person reads the numbers.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import yaml

from crossover.config import schema
from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.design.config import Config
from crossover.design.experiments import Experiment, declared
from crossover.design.launch import Launch
from crossover.design.settings import Rounds, Settings, canonical
from crossover.measure.launch import driver
from crossover.measure.launch.conduct import conduct
from crossover.measure.launch.driver import Driver
from crossover.measure.sampling.contract import Block
from crossover.planning import plan, receipt
from crossover.planning.receipt import Files
from crossover.records import record

TIERS = ("quick", "standard", "paper")
ROUNDS = 10
"""Rounds of each cell. Their number does not affect the page, which shows aggregated tables."""

RANK = {
    "host": "alpha", "cpu": "made up", "affinity": "0-1", "governor": "", "kernel": "6", "os": "", "python": "3.11",
    "libraries": "{}", "network": "{}", "mpi": "", "logical_cpus": 2, "memory_bytes": 24_000_000_000,
}  # fmt: skip


class Blocks:
    """Blocks that take no time. Each arm's values follow its own power of the axis, with a quiet machine's noise."""

    def __init__(self, kind: Experiment, random: np.random.Generator):
        self.kind, self.random = kind, random
        self.shift: dict[str, float] = {}

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Return values that cross those of other arms somewhere on the axis."""
        shift = self.shift.setdefault(arm.name, 0.01 * self.random.standard_normal())
        power = sum(map(ord, arm.runs)) % 17 / 100
        seconds = 1e-5 * (cell.x / 1e4) ** power * (1 + cell.x / 1e6) * np.exp(shift + 0.03 * self.random.standard_t(4))
        values = {metric.name: self._value(metric, seconds) for metric in self.kind.metrics}
        return Block(n * seconds, values)

    def _value(self, metric: Any, seconds: float) -> float:
        if metric.levels:
            return float(1e-5 / (1e-5 + seconds))
        return float(seconds if metric.better == "lower" else 1 / seconds)


@dataclass(frozen=True)
class MadeUp:
    """A driver with the cells of another, but without measurements."""

    driver: Driver
    kind: Experiment
    random: np.random.Generator

    def __getattr__(self, name: str) -> Any:
        return getattr(self.driver, name)

    @contextmanager
    def drive(self, peers: Any, settings: Settings) -> Iterator[Blocks]:
        """Blocks that take no time."""
        yield Blocks(self.kind, self.random)


def write(config: Config, launch: Launch, random: np.random.Generator) -> int:
    """Write the raw file of a launch and its receipt; returns the number of rows."""
    briefly = replace(launch, settings=replace(launch.settings, rounds=Rounds(ROUNDS, at_least=ROUNDS)))
    files = Files.of(config.results, config.tier, launch, 0)
    raw = files.next_raw()
    raw.parent.mkdir(parents=True, exist_ok=True)
    peers: Any = SimpleNamespace(ranks=[RANK | {"rank": rank} for rank in range(2)])
    kind = cast(Driver, MadeUp(driver.find(launch.experiment), declared()[launch.experiment], random))
    conduct(kind, peers, briefly, raw)
    table = record.read(raw, record.MEASUREMENTS)
    told = record.metadata(table)
    facts = {"outcome": "measured", "settings": canonical(launch.settings.stored), "code": "", "commit": "", "ranks": 2}
    told["launch"] |= facts | {"wall_seconds": launch.settings.seconds}
    record.write(table, raw, told)
    receipt.write(files, raw, told["launch"], told["ranks"])
    return table.num_rows


def measure(tier: str, folder: Path) -> None:
    """Make up a run of this tier in `folder`; print the size of its page and the time to derive it."""
    asked = yaml.safe_load(Path("config/config.yaml").read_text(encoding="utf-8"))
    config = schema.complete(asked | {"tier": tier, "results": str(folder)})
    random = np.random.default_rng(1)
    launches = list(plan.launches(config))
    rows = sum(write(config, launch, random) for launch in launches)
    began = time.perf_counter()
    settings = ["--config", f"tier={tier}", f"results={folder}", "partial=true"]
    command = [sys.executable, "-m", "snakemake", "--profile", "profiles/local", "--quiet", "all", *settings]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    took = time.perf_counter() - began
    megabytes = (folder / "report/index.html").stat().st_size / 1e6
    print(
        f"{tier:>8}: {len(launches)} launches, {rows:,} rows; {megabytes:.2f} MB, derived in {took:.0f} s", flush=True
    )


def main() -> None:
    """Make up a run of each tier, with its page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiers", nargs="*", choices=TIERS, default=TIERS)
    parser.add_argument("--keep", type=Path, help="a folder for the results, by tier; by default they are deleted")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for tier in chosen.tiers:
            measure(tier, (chosen.keep or Path(folder)).resolve() / tier)


if __name__ == "__main__":
    main()
