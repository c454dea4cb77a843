"""What a launcher is asked for, two ranks on one host or two, and what came of that.

An attempt is `mpi`, the launcher; `worlds`, for each MPI world that came up its `size` and its ranks' `hosts`; and
`said`, the launcher's last words.
"""

from __future__ import annotations

from typing import Any

from crossover.doctor.finding import Facts

RANKS = 2
HOSTS = {"node": 1, "nodes": 2}
"""Hosts of each placement's job."""


def wanted(wildcards: Any) -> int:
    """Hosts of a job, by its wildcards."""
    return HOSTS[wildcards.placement]


def together(attempt: Facts) -> bool:
    """Whether both ranks came up in one world."""
    return [world["size"] for world in attempt["worlds"]] == [RANKS]


def hosts(attempt: Facts) -> list[str]:
    """Where ranks came up."""
    return sorted({host for world in attempt["worlds"] for host in world["hosts"]})


def apart(attempt: Facts) -> bool:
    """Whether both ranks came up in one world, on two hosts."""
    return together(attempt) and len(hosts(attempt)) == RANKS


def outcome(attempt: Facts) -> str:
    """It in words, as what the launcher did."""
    sizes = [world["size"] for world in attempt["worlds"]]
    if not sizes:
        return f"started none: {attempt['said'] or 'it did not say why'}"
    if together(attempt):
        return f"put its ranks on {' and '.join(hosts(attempt))}"
    if set(sizes) == {1}:
        return f"started {len(sizes)} ranks that came up alone"
    return f"started worlds of {' and '.join(map(str, sizes))} ranks, not of {RANKS}"
