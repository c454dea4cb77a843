"""Do the ranks of an MPI launch keep the memory that they free?"""

import subprocess
import sys

from launching import settings

from crossover.design.launch import Launch
from crossover.measure.launch import supervisor

ROUND = """
import resource, sys
for size in (1 << 20, 8 << 20, 24 << 20):
    bytearray(size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        bytearray(size)[::4096]
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(environment):
    """Page faults of 20 allocations of 1, 8 and 24 MB, each after one of the same size."""
    told = subprocess.run([sys.executable, "-c", ROUND], env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return [int(line) for line in told.stdout.split()]


def test_large_blocks_reuse_freed_memory():
    assert max(faults(supervisor.MEMORY_KEPT)) < 1000 < max(faults({}))


def test_only_ranks_of_experiments_that_declare_it_get_the_allocators_settings(tmp_path):
    def environment(experiment, **told):
        launch = Launch(experiment, "node", 1, settings(experiment, told))
        return supervisor.environment(launch, tmp_path, [], "auto")

    for keeping in (environment("mpi_pingpong", players=["rank"]), environment("mpi_collectives")):
        assert keeping.items() >= supervisor.MEMORY_KEPT.items()
    for plain in (environment("mpi_pingpong", players=["engine"]), environment("zmq_latency")):
        assert not set(plain) & set(supervisor.MEMORY_KEPT)
