"""Do all farms spread their engines over the hosts in the same way, however the launcher numbers the ranks?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossover.design.families import farming
from crossover.measure.farms import engines
from crossover.records.holes import Refusal


def launch(hosts, count, rivals=1):
    """Settings of a launch with this many engines in each farm: the reference's, the null arm's and each rival's."""
    arms = ["reference", *(f"rival {number}" for number in range(rivals))]
    return {"placement": "nodes", "hosts": hosts, "engines": count, "arms": arms, "reference": "reference"}


def cyclic(settings):
    return [f"host {rank % farming.hosts(settings)}" for rank in range(farming.ranks(settings))]


def layouts(hosts, settings):
    """The number of engines of each arm on each host."""
    names = sorted(set(hosts))
    found = engines(hosts, settings)
    return [[sum(hosts[rank] == name for rank in ranks) for name in names] for ranks in found.values()]


@given(st.integers(2, 5), st.integers(1, 9), st.integers(1, 3), st.randoms(use_true_random=False))
def test_every_farm_has_the_same_even_spread(hosts, count, rivals, random):
    settings = launch(hosts, count, rivals)
    where = cyclic(settings)
    rest = where[1:]
    random.shuffle(rest)
    where = [where[0], *rest]
    found = engines(where, settings)
    ranks = [rank for own in found.values() for rank in own]
    assert len(set(ranks)) == len(ranks) and 0 not in ranks
    assert {len(own) for own in found.values()} == {count}
    first, *others = layouts(where, settings)
    assert others == [first] * len(others)
    assert max(first) - min(first) <= 1


def test_a_single_engine_is_not_on_its_clients_host():
    settings = launch(2, 1)
    where = cyclic(settings)
    assert {where[rank] for own in engines(where, settings).values() for rank in own} == {"host 1"}


def test_within_a_host_engines_are_numbered_farm_by_farm():
    settings = launch(2, 2) | {"placement": "node"}
    assert engines(["here"] * 7, settings) == {"reference": [1, 2], "rival 0": [3, 4], "null": [5, 6]}


def test_a_host_with_too_few_ranks_is_refused_with_the_remedy():
    settings = launch(2, 2)
    where = ["one", "one", "one", "one", "one", "one", "two"]
    with pytest.raises(Refusal) as refused:
        engines(where, settings)
    assert refused.value.kind == "wrong placement"
    for said in ("5 on one", "1 on two", "3 engines", "launch:mpi=LAUNCHER, such as srun"):
        assert said in str(refused.value)
