"""Processor time and memory of a dry run of ten thousand launches: `make bench-plan`.

Plans the tier `paper` with many launches of each heat, with a profile of a batch system so that no placement is left
out. Nothing is submitted, and nothing here passes or fails: a person reads the numbers.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from crossover.config import schema
from crossover.paths import PROJECT
from crossover.planning import plan


def many(folder: str, launches: int) -> dict[str, object]:
    """A configuration with this many launches of each heat."""
    experiments = {name: {"launches": launches} for name in schema.complete({})["experiments"]}
    chosen = {"tier": "paper", "results": f"{folder}/results", "unauthenticated_farms": True}
    return chosen | {"experiments": experiments}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--launches", type=int, default=88, metavar="N", help="launches of each heat (default 88)")
    parser.add_argument("--profile", default="profiles/slurm", help="the profile (default profiles/slurm)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        config = many(folder, chosen.launches)
        file = Path(folder, "config.yaml")
        file.write_text(yaml.safe_dump(config), encoding="utf-8")
        command = [sys.executable, "-m", "snakemake", "--profile", chosen.profile, "--dry-run", "--configfile", file]
        subprocess.run(command, cwd=PROJECT, check=True, stdout=subprocess.DEVNULL)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        count = sum(1 for _ in plan.launches(schema.complete(config) | {"hosts": sys.maxsize}))
    seconds = used.ru_utime + used.ru_stime
    print(f"{count} launches: {seconds:.1f} s of processor time, {used.ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
