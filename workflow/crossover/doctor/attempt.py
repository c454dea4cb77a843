"""An attempt to start two ranks, on one host or two, and its outcome.

An attempt has `mpi`, the launcher; `worlds`, with `size` and `hosts` of each MPI world that started; and `said`, the
last line of the launcher's output.
"""

from crossover.doctor.finding import Facts

RANKS = 2
HOSTS = {"node": 1, "nodes": 2}
"""The number of hosts of each placement's job."""


def placements(hosts: int) -> list[str]:
    """The placements that are examined where a launch can have so many hosts."""
    return [placement for placement, count in HOSTS.items() if count <= hosts]


def together(attempt: Facts) -> bool:
    """Whether both ranks started in one world."""
    return [world["size"] for world in attempt["worlds"]] == [RANKS]


def hosts(attempt: Facts) -> list[str]:
    """The hosts on which ranks started."""
    return sorted({host for world in attempt["worlds"] for host in world["hosts"]})


def apart(attempt: Facts) -> bool:
    """Whether both ranks started in one world, on two hosts."""
    return together(attempt) and len(hosts(attempt)) == RANKS


def outcome(attempt: Facts) -> str:
    """The outcome in words, to follow the launcher's name."""
    sizes = [world["size"] for world in attempt["worlds"]]
    if not sizes:
        return f"started no ranks: {attempt['said'] or 'no reason given'}"
    if together(attempt):
        return f"put its ranks on {' and '.join(hosts(attempt))}"
    if set(sizes) == {1}:
        return f"started {len(sizes)} ranks that came up alone"
    return f"started worlds of {' and '.join(map(str, sizes))} ranks, not of {RANKS}"
