"""Do launches over several hosts rotate over the nodes of a site?"""

from collections import Counter
from itertools import combinations
from types import SimpleNamespace

import pytest

from crossover.config import rotation

NODES = ["n1", "n2", "n3", "n4", "n5"]


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_every_node_meets_every_other_equally_often(count):
    nodes = NODES[:count]
    pairs = list(combinations(nodes, 2))
    met = Counter(tuple(sorted(rotation.group(nodes, 2, launch))) for launch in range(1, 2 * len(pairs) + 1))
    assert met == dict.fromkeys(pairs, 2)


def test_as_many_launches_as_nodes_use_every_node_twice():
    used = Counter(node for launch in range(1, 6) for node in rotation.group(NODES, 2, launch))
    assert used == dict.fromkeys(NODES, 2)


@pytest.mark.parametrize("hosts", [3, 4])
def test_wider_launches_use_a_window_that_moves_round_the_list(hosts):
    used = [rotation.group(NODES, hosts, launch) for launch in range(1, 6)]
    assert len({frozenset(group) for group in used}) == 5
    assert {len(set(group)) for group in used} == {hosts}
    assert Counter(node for group in used for node in group) == dict.fromkeys(NODES, hosts)


@pytest.mark.parametrize("hosts", [5, 9])
def test_a_launch_at_least_as_wide_as_the_list_uses_all(hosts):
    assert rotation.group(NODES, hosts, 7) == tuple(NODES)


@pytest.mark.parametrize("turns", [2, 3, 5])
@pytest.mark.parametrize("count", [3, 4, 5])
def test_every_heat_meets_every_pair(count, turns):
    pairs = rotation.groups(NODES[:count], 2)
    for heat in range(turns):
        launches = range(1 + heat, turns * len(pairs) ** 2, turns)
        assert {rotation.group(NODES[:count], 2, launch) for launch in launches} == set(pairs)


@pytest.mark.parametrize(
    ("placement", "attempt", "options"),
    [
        ("nodes", 1, "--exclusive --nodelist=n2,n3"),
        # One of them may have died.
        ("nodes", 2, "--exclusive"),
        ("node", 1, "--exclusive"),
    ],
)
def test_only_the_first_attempt_of_a_launch_over_several_hosts_names_nodes(placement, attempt, options):
    wildcards = SimpleNamespace(placement=placement, launch="2")
    written = rotation.expression("--exclusive", NODES[:3])
    # As Snakemake does.
    assert eval(written, {"wildcards": wildcards, "attempt": attempt}) == options
