"""The nodes that a launch over several hosts requests, so that launches rotate over the nodes of a site.

Slurm often grants the same nodes again. Then a slow node or link shifts all launches alike, and nobody can notice.
"""

from collections.abc import Sequence
from typing import Any

PAIR = 2
"""The nodes that a launch names; one over more hosts gets the others from Slurm."""


def groups(nodes: Sequence[str], hosts: int) -> list[tuple[str, ...]]:
    """The groups of `hosts` nodes that launches use in turn.

    Of two hosts, every pair: first neighbours, then nodes that are two apart, and so on, so that few launches already
    use every node. Of more, each window of neighbours. The last node is a neighbour of the first. All nodes if there
    are not more.

    >>> groups(["a", "b", "c", "d"], 2)
    [('a', 'b'), ('b', 'c'), ('c', 'd'), ('a', 'd'), ('a', 'c'), ('b', 'd')]
    >>> groups(["a", "b", "c", "d"], 3)
    [('a', 'b', 'c'), ('b', 'c', 'd'), ('c', 'd', 'a'), ('d', 'a', 'b')]
    """
    count = len(nodes)
    if hosts >= count:
        return [tuple(nodes)]
    if hosts == PAIR:
        steps = range(1, count // 2 + 1)
        rings = [[(first, (first + step) % count) for first in range(count)] for step in steps]
        pairs = dict.fromkeys(tuple(sorted(pair)) for ring in rings for pair in ring)
        return [(nodes[first], nodes[second]) for first, second in pairs]
    return [tuple(nodes[(first + step) % count] for step in range(hosts)) for first in range(count)]


def group(nodes: Sequence[str], hosts: int, launch: int) -> tuple[str, ...]:
    """The group of this launch, counted from 1.

    Each pass over all groups starts one group later, so that groups of rivals, which alternate too, do not keep theirs.

    >>> [group(["a", "b", "c"], 2, launch) for launch in (1, 2, 3, 4)]
    [('a', 'b'), ('b', 'c'), ('a', 'c'), ('b', 'c')]
    """
    every = groups(nodes, hosts)
    passed, turn = divmod(launch - 1, len(every))
    return every[(passed + turn) % len(every)]


def extra(options: str, nodes: Sequence[str], wildcards: Any, attempt: int) -> str:
    """The `options` of sbatch for the job with these wildcards; over several hosts, with the nodes of its launch.

    A second attempt names none: if one of them has died, the job would wait for it.
    """
    if wildcards.placement != "nodes" or attempt > 1:
        return options
    return f"{options} --nodelist={','.join(group(nodes, PAIR, int(wildcards.launch)))}"


def expression(options: str, nodes: Sequence[str]) -> str:
    """`extra` as an expression for a profile, whose expressions know `wildcards` and `attempt` but no modules."""
    module = f"__import__({__name__!r}, fromlist=['extra'])"
    return f"{module}.extra({options!r}, {list(nodes)!r}, wildcards, attempt)"
