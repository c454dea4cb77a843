"""Does everybody play against everybody once, and is a pair's result that of its own messages?"""

import json
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from launching import COMMON

from crossover.config import schema
from crossover.experiments.mpi_pairs import ALONE, BANDWIDTH, EXPERIMENT, FEWEST_HOSTS, LATENCY, LOADED, driver
from crossover.measure.sampling.contract import DAMAGED, Pair
from crossover.planning import plan

MOST_SECONDS = 240


@given(st.integers(2, 70), st.integers(1, 80), st.integers(0, 2**32))
def test_nobody_plays_twice_in_a_round_or_against_the_same_opponent(players, count, seed):
    rounds = driver.tournament(players, count, seed)
    assert len(rounds) == min(count, players - 1 + players % 2)
    for pairs in rounds:
        busy = [rank for pair in pairs for rank in pair]
        assert len(busy) == len({*busy}) == players - players % 2
    every = [pair for pairs in rounds for pair in pairs]
    assert len(every) == len({*every}) and {*every} <= {*combinations(range(players), 2)}
    assert count < len(rounds) or players % 2 or len(every) == len(rounds) * players // 2
    assert driver.tournament(players, count, seed) == rounds


def test_a_whole_tournament_has_every_pair_and_another_seed_another_order():
    one, other = (driver.tournament(16, 15, seed) for seed in (1, 2))
    for rounds in (one, other):
        assert sorted(pair for pairs in rounds for pair in pairs) == [*combinations(range(16), 2)]
    assert one != other
    sampled = [{*pair} for seed in (1, 2, 3) for pairs in driver.tournament(1000, 15, seed) for pair in pairs]
    assert len({tuple(sorted(pair)) for pair in sampled}) > 0.95 * len(sampled)


def launched(granted, **settings):
    """The settings of the first launch where Slurm grants so many hosts."""
    config = schema.complete({"experiments": {"mpi_pairs": settings}})
    return plan.launch(plan.fitted(replace(config, hosts=granted)), "mpi_pairs", "nodes", 1).settings


@pytest.mark.parametrize(("granted", "hosts"), [(1, FEWEST_HOSTS), (5, 5), (16, 16), (400, 16)])
def test_a_launch_has_as_many_hosts_as_slurm_grants(granted, hosts):
    own = launched(granted)
    assert (own.nodes, own.ranks, own.slurm_tasks) == (hosts, hosts, hosts)
    assert own.fewest_rounds == own.tournament_rounds == (hosts if hosts % 2 else hosts - 1)


def test_a_single_machine_measures_none():
    config = plan.fitted(replace(schema.complete({"experiments": {"mpi_pairs": {}}}), hosts=1))
    assert not [*plan.launches(config)]
    assert plan.waiting(config) == {"mpi_pairs": {"nodes": FEWEST_HOSTS}}
    said = "not measured: mpi_pairs (placement nodes): this needs a cluster"
    assert said in plan.left_out(config)[0]
    beside = schema.complete({"experiments": {"mpi_pairs": {}, "task_program": {}}})
    assert not plan.left_out(replace(beside, hosts=1))


@pytest.mark.parametrize(("hosts", "rounds"), [(64, 63), (65, 15), (1000, 15)])
def test_a_tournament_of_many_hosts_ends_in_time(hosts, rounds):
    own = launched(10_000, hosts=hosts)
    assert own.fewest_rounds == rounds and own.expected_seconds < MOST_SECONDS
    assert own.limit_seconds > own.expected_seconds


class Opponent:
    """The communicator of an end whose opponent sends what `spoil` makes of its message."""

    rank, size = 0, 2

    def __init__(self, spoil):
        self.spoil = spoil

    def Send(self, out, other):
        pass

    def Recv(self, into, other):
        buffer, size, _ = into
        buffer[:] = self.spoil(driver.message(other, size))


@pytest.mark.parametrize(
    ("spoil", "right"), [(lambda sent: sent, True), (np.zeros_like, False), (lambda sent: sent[::-1], False)]
)
def test_a_damaged_message_is_noticed(spoil, right):
    player = driver.Player.__new__(driver.Player)
    player.rank, player.comm = 0, Opponent(spoil)
    assert player._bounce((0, 1), 8, 3)[1] is right


def test_a_pair_with_a_damaged_message_has_no_value():
    every = np.array([[4.0, 1], [5.0, 1], [4.0, 1], [4.0, 0]])
    assert driver.Tournament._result(every, (0, 1), 8, 2) == Pair((0, 1), {LATENCY: 1.0})
    assert driver.Tournament._result(every, (0, 1), 10**6, 2) == Pair((0, 1), {BANDWIDTH: 1.0})
    assert driver.Tournament._result(every, (2, 3), 8, 2) == Pair((2, 3), fault=DAMAGED)


def test_four_ranks_play_whole_tournaments_in_either_way(launch):
    """On one host, where they stand in for those of four."""
    # The sampler may play one pair at a time in every third round only.
    enough = {"fewest_rounds": 9, "rounds": {"at_least": 9, "at_most": 30}}
    one = launch("mpi_pairs", COMMON | enough | {"placements": ["node"], "launches": 1})
    described = json.loads(one.file.read_text(encoding="utf-8"))
    # Launches on one host do not store a number of hosts.
    described["settings"]["hosts"] = 4
    one.file.write_text(json.dumps(described), encoding="utf-8")
    assert one.run() == 0, one.log.read_text()
    assert "the seed of its tournament is " in one.facts["notes"]
    blocks, pairs = defaultdict(dict), defaultdict(list)
    for row in one.rows:
        place = row["x"], row["arm"], row["round"]
        if row["first_rank"] is None:
            blocks[place] = row
        else:
            pairs[place].append(row)
    assert {*blocks} == {*pairs}
    for place, block in blocks.items():
        own = pairs[place]
        assert block["value"] == pytest.approx(median(row["value"] for row in own))
        assert len({rank for row in own for rank in (row["first_rank"], row["second_rank"])}) == 2 * len(own) == 4
        assert {(row["metric"], row["unit"], row["better"]) for row in own} == {
            (metric.name, metric.unit, metric.better)
            for metric in EXPERIMENT.metrics
            if metric.name == driver.metric_of(place[0])
        }
    for x in (8, 10**6):
        for arm in (LOADED, ALONE, "null"):
            rounds = [
                [(row["first_rank"], row["second_rank"]) for row in own]
                for at, own in pairs.items()
                if at[:2] == (x, arm)
            ]
            played = Counter(pair for own in rounds for pair in own)
            assert {*played} == {*combinations(range(4), 2)}
            assert max(played.values()) - min(played.values()) <= 1
