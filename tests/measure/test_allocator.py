"""Does a large message get fresh pages, or kept ones, as its launch declares?"""

import subprocess
import sys

import pytest
from launching import settings

from crossover.design.launch import Launch
from crossover.measure.launch import supervisor
from crossover.paths import PACKAGE

ROUND = """
import resource, sys
bytearray(24 << 20)
for size in (1 << 20, 8 << 20, 24 << 20):
    SETTLED
    bytearray(size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        bytearray(size)[::4096]
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(environment, settled="pass"):
    """Page faults of 20 allocations of 1, 8 and 24 MB, each after one of the same size; `settled` runs before."""
    command = [sys.executable, "-c", ROUND.replace("SETTLED", settled)]
    told = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return [int(line) for line in told.stdout.split()]


PAGES = [20 * (size << 20) // 4096 for size in (1, 8, 24)]


def test_every_large_block_has_fresh_pages_or_none_has_whatever_was_freed():
    fresh, kept = (faults(supervisor.ALLOCATORS[memory]) for memory in ("fresh", "kept"))
    assert all(seen >= 0.9 * count for seen, count in zip(fresh, PAGES, strict=True))
    assert max(kept) < 1000


def test_settled_thresholds_keep_a_block_of_the_length_but_not_a_longer_one():
    program = "from crossover.measure.ranks.allocator import settle; settle({})"
    environment = {"PYTHONPATH": str(PACKAGE.parent)}
    assert max(faults(environment, program.format("size"))) < 1000
    assert all(
        seen >= 0.9 * count for seen, count in zip(faults(environment, program.format("size // 2")), PAGES, strict=True)
    )


@pytest.mark.parametrize(
    ("experiment", "told", "memory"),
    [
        ("mpi_pingpong", {"players": ["rank"]}, "fresh"),
        ("mpi_pingpong", {"players": ["rank, kept memory"]}, "kept"),
        ("mpi_pingpong", {"players": ["engine"]}, "fresh"),
        ("mpi_collectives", {}, "fresh"),
        ("mpi_collectives", {"memory_states": ["kept"]}, "kept"),
        ("zmq_latency", {}, ""),
    ],
)
def test_ranks_get_the_allocators_settings_that_their_launch_declares(tmp_path, experiment, told, memory):
    launch = Launch(experiment, "node", 1, settings(experiment, told))
    found = supervisor.environment(launch, tmp_path, [], "auto")
    told = {name: value for name, value in found.items() if name.startswith("MALLOC_")}
    assert told == supervisor.ALLOCATORS[memory]
