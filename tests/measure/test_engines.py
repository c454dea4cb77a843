"""Do all farms spread their engines over the hosts in the same way, however the launcher numbers the ranks?"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from launching import settings

from crossover.measure.farms import engines
from crossover.records.holes import Refusal


def launch(hosts, count, rivals=1):
    """Settings of a launch with this many engines in each farm: the reference's, the null arm's and each rival's."""
    arms = ["reference", *(f"rival {number}" for number in range(rivals))]
    told = {"placement": "nodes", "hosts": hosts, "engines": count, "arms": arms, "reference": "reference"}
    return settings("task_latency", told | {"ceilings": []})


def cyclic(own):
    return [f"host {rank % own.nodes}" for rank in range(own.ranks)]


def layouts(hosts, own):
    """The number of engines of each arm on each host."""
    names = sorted(set(hosts))
    found = engines(hosts, own)
    return [[sum(hosts[rank] == name for rank in ranks) for name in names] for ranks in found.values()]


@given(st.integers(2, 5), st.integers(1, 9), st.integers(1, 3), st.randoms(use_true_random=False))
def test_every_farm_has_the_same_even_spread(hosts, count, rivals, random):
    own = launch(hosts, count, rivals)
    where = cyclic(own)
    rest = where[1:]
    random.shuffle(rest)
    where = [where[0], *rest]
    found = engines(where, own)
    ranks = [rank for own in found.values() for rank in own]
    assert len(set(ranks)) == len(ranks) and 0 not in ranks
    assert {len(own) for own in found.values()} == {count}
    first, *others = layouts(where, own)
    assert others == [first] * len(others)
    assert max(first) - min(first) <= 1


def test_a_single_engine_is_not_on_its_clients_host():
    own = launch(2, 1)
    where = cyclic(own)
    assert {where[rank] for own in engines(where, own).values() for rank in own} == {"host 1"}


def test_within_a_host_engines_are_numbered_farm_by_farm():
    own = replace(launch(2, 2), placements=("node",))
    assert engines(["here"] * 7, own) == {"reference": [1, 2], "rival 0": [3, 4], "null": [5, 6]}


def test_a_host_with_too_few_ranks_is_refused_with_the_remedy():
    own = launch(2, 2)
    where = ["one", "one", "one", "one", "one", "one", "two"]
    with pytest.raises(Refusal) as refused:
        engines(where, own)
    assert refused.value.kind == "wrong set-up"
    for said in ("5 on one", "1 on two", "3 engines", "launch:mpi=LAUNCHER, such as srun"):
        assert said in str(refused.value)
