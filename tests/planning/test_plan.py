"""Do experiments, launches and resources follow correctly from a configuration?"""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossover.config import schema
from crossover.design import farming
from crossover.design.arm import arms_of
from crossover.design.experiments import declared
from crossover.design.settings import TIERS, Rounds, decades, described
from crossover.experiments.mpi_pingpong import PLAYING
from crossover.planning import plan


def config(experiment, tier="quick", **chosen):
    """A complete configuration with one experiment."""
    return schema.complete({"tier": tier, "experiments": {experiment: chosen}})


def settings(experiment="mpi_pingpong", placement="node", launch=1, tier="quick", **chosen):
    """The settings of a launch."""
    return plan.launch(config(experiment, tier, **chosen), experiment, placement, launch).settings


whole = st.integers(1, 10**12)


@given(st.tuples(whole, whole).map(sorted).filter(lambda ends: ends[0] < ends[1]), st.integers(1, 12))
def test_points_rise_from_exactly_the_first_to_exactly_the_last(ends, per_decade):
    first, last = ends
    found = decades(first, last, per_decade)
    assert (found[0], found[-1]) == (first, last)
    assert list(found) == sorted(set(found))
    assert all(isinstance(point, int) for point in found)


def test_the_order_of_arms_is_reference_rivals_null_arm_ceilings():
    own = settings(arms=["Send", "send", "pkl5.send"], reference="send", ceilings=["C"])
    assert [(arm.name, arm.runs, arm.null, arm.ceiling) for arm in arms_of(own)] == [
        ("send", "send", False, False),
        ("Send", "Send", False, False),
        ("pkl5.send", "pkl5.send", False, False),
        ("null", "send", True, False),
        ("C", "C", False, True),
    ]


@pytest.mark.parametrize(("placement", "ranks", "nodes"), [("process", 1, 1), ("node", 2, 1), ("nodes", 2, 2)])
def test_two_peers_need_two_ranks_and_across_hosts_two_hosts_and_a_job_two_tasks(placement, ranks, nodes):
    own = settings(placement=placement)
    assert (own.ranks, own.nodes, own.slurm_tasks) == (ranks, nodes, 2)


def test_a_ping_pong_of_engines_needs_a_client_and_a_farm():
    plain, engines = (settings(launch=number, players=["rank", "engine"]) for number in (1, 2))
    assert (plain.player, plain.ranks, plain.entrants) == ("rank", 2, {})
    assert (engines.player, engines.ranks, engines.entrants) == ("engine", 3, {"engine": PLAYING})


@pytest.mark.parametrize(
    ("hosts", "engines", "taken", "ranks"), [(2, 2, 2, 9), (2, 1, 2, 9), (2, 3, 2, 17), (4, 2, 2, 9), (4, 8, 4, 33)]
)
def test_a_farm_has_equal_places_on_all_hosts_and_an_engine_on_each(hosts, engines, taken, ranks):
    """For three rivals and the null arm; places without an engine stay empty."""
    own = settings("task_latency", "nodes", hosts=hosts, engines=engines)
    assert (own.nodes, own.ranks) == (taken, ranks)
    assert ranks == 1 + taken * own.places() * len(arms_of(own))


def test_across_hosts_another_arm_replaces_a_reference_that_needs_one_host():
    assert settings("task_latency").reference == "concurrent.futures"
    far = settings("task_latency", "nodes")
    assert (far.reference, far.arms[:2]) == ("leastload", ("leastload", "pure"))
    assert {arm.runs for arm in arms_of(far) if arm.null} == {"leastload"}


def test_curves_and_arms_of_a_single_host_are_left_out_across_hosts():
    assert settings("zmq_latency", "nodes", tier="paper").curves == ("REQ/REP over tcp", "REQ/REP over tcp, legacy")
    assert settings(placement="nodes", tier="paper").ceilings == ("C", "raw TCP")
    everywhere = config("task_latency", "paper").experiments["task_latency"]
    within = {*everywhere.arms} - {*plan.in_placement(everywhere, "nodes").arms}
    over_ssh = {"leastload over ssh", "leastload msgpack over ssh", "pure over ssh"}
    pool = "multiprocessing.Pool"
    pools = {"concurrent.futures", "concurrent.futures chunk 8", "joblib", "joblib batch 1"}
    assert within == {pool, f"{pool} map", f"{pool} chunk 8", *farming.THREADS} | pools | over_ssh


def test_launches_on_one_host_do_not_depend_on_the_number_of_hosts():
    for placement, alike in (("node", True), ("nodes", False)):
        two, four = (settings("task_latency", placement, engines=8, hosts=hosts).digest for hosts in (2, 4))
        assert (two == four) is alike


@pytest.mark.parametrize(("hosts", "placements"), [(1, {"node"}), (2, {"node", "nodes"}), (3, {"node", "nodes"})])
def test_launches_across_hosts_run_if_there_are_enough_hosts(hosts, placements):
    run = replace(config("mpi_pingpong"), hosts=hosts)
    assert {launch.placement for launch in plan.launches(run)} == placements
    waiting = {} if hosts > 1 else {"mpi_pingpong": {"nodes": 2}}
    assert plan.waiting(run) == waiting
    assert plan.most_hosts(run) == min(hosts, 2)


@pytest.mark.parametrize(("engines", "ranks"), [(1, 5), (2, 9), (5, 21)])
def test_ranks_and_tasks_are_one_farm_for_each_arm_and_the_driver(engines, ranks):
    """For two rivals, the null arm's own farm and the ceiling's."""
    own = settings("task_latency", engines=engines, arms=["leastload", "pure"], ceilings=["bare zmq"])
    assert own.ranks == own.slurm_tasks == ranks


@pytest.mark.parametrize("tier", TIERS)
def test_the_supervisors_limit_exceeds_the_budget(tier):
    for launch in plan.launches(schema.complete({"tier": tier})):
        own = launch.settings
        assert own.limit_seconds > 2 * own.seconds + 60 + 2 * own.ranks


def test_each_placement_may_have_its_own_budget():
    both = {"node": 5, "nodes": 7}
    assert [settings(placement=where, budget_seconds=both).seconds for where in both] == [5, 7]
    assert settings(budget_seconds=3).seconds == 3


OF_OTHERS = {"launches": 9, "placements": ["nodes"]}
OTHERWISE = {
    "reference": "Send",
    "ceilings": (),
    "block_seconds": 1.0,
    "fewest_rounds": 2,
    "rounds": Rounds(99),
    "target_width": 0.3,
    "budget_seconds": 99.0,
    "elements": (7,),
    "objects": ("dict",),
    "thread_levels": ("single",),
    "players": ("engine",),
    "arms": ("send", "persistent"),
}


@pytest.mark.parametrize("setting", OF_OTHERS)
def test_a_launch_does_not_depend_on_other_launches(setting):
    assert setting not in settings().stored
    changed = plan.launch(config("mpi_pingpong", **{setting: OF_OTHERS[setting]}), "mpi_pingpong", "node", 1)
    assert changed.settings.digest == settings().digest


def test_a_launch_depends_on_every_other_setting_and_its_placement():
    own = settings()
    assert {*OTHERWISE} == described(type(own)).keys() - OF_OTHERS.keys()
    digests = {replace(own, **{key: value}).digest for key, value in OTHERWISE.items()}
    assert len(digests | {own.digest, settings(placement="nodes").digest}) == len(OTHERWISE) + 2


CALLS = st.lists(st.sampled_from(declared()["mpi_pingpong"].names("arms")), unique=True, min_size=2)


@given(
    CALLS,
    st.sampled_from([["multiple"], ["single", "multiple"]]),
    st.sampled_from([["rank"], ["rank", "engine"]]),
    st.integers(1, 4),
)
def test_each_thread_level_and_player_gets_all_launches_with_all_rivals(arms, levels, players, launches):
    chosen = {"arms": arms, "reference": arms[-1], "thread_levels": levels, "players": players}
    run = config("mpi_pingpong", **chosen, launches=launches, placements=["node"])
    every = list(plan.launches(run))
    assert [launch.number for launch in every] == list(range(1, len(every) + 1))
    assert all(launch.settings.arms == (arms[-1], *arms[:-1]) for launch in every)
    found = [(launch.settings.thread_level, launch.settings.player) for launch in every]
    assert sorted(found) == sorted([*product(levels, players)] * launches)
    assert [launch.repetition for launch in every] == sorted(launch.repetition for launch in every)


FARMS = st.lists(
    st.sampled_from(("leastload", "pure", "lru", "twobin", "weighted", "twisted")), unique=True, min_size=2
)


@given(FARMS, st.integers(1, 8), st.lists(st.integers(1, 64), unique=True, min_size=1, max_size=4), st.integers(1, 3))
def test_the_rivals_are_divided_among_launches_for_each_number_of_engines(arms, size, counts, launches):
    chosen = {"arms": arms, "reference": arms[0], "rivals_per_launch": size, "engine_counts": counts, "ceilings": []}
    run = config("task_scaling", **chosen, launches=launches, placements=["node"])
    entries = []
    for launch in plan.launches(run):
        own = launch.settings
        assert own.arms[0] == arms[0] and 1 <= len(own.rivals) <= size
        assert own.ranks == 1 + own.engine_count() * (len(own.arms) + 1)
        entries += [(own.engine_count(), arm) for arm in own.rivals]
    assert sorted(entries) == sorted((count, arm) for count in counts for arm in arms[1:] for _ in range(launches))


def test_a_farm_that_disturbs_the_others_has_a_launch_of_its_own():
    loud = {"farm": "dask", "alone": True}
    arms = {"arms": ["leastload", "b", "pure", "d", "lru"], "rivals_per_launch": 3}
    run = schema.complete({"farms": {"b": loud, "d": loud}, "experiments": {"task_latency": arms}})
    found = plan.in_placement(run.experiments["task_latency"], "node").turns()
    assert [own.arms for own in found] == [("leastload", "pure", "lru"), ("leastload", "b"), ("leastload", "d")]


def test_a_launch_does_not_depend_on_the_other_numbers_of_engines():
    first, more, four = (
        settings("task_scaling", launch=launch, engine_counts=counts)
        for launch, counts in ((1, [1, 4]), (1, [1, 2, 4]), (3, [1, 2, 4]))
    )
    assert first.digest == more.digest
    assert four.engine_count() == 4


@pytest.mark.parametrize("tier", TIERS)
def test_at_most_four_farms_besides_ceilings_and_pools_run_at_once(tier):
    for launch in plan.launches(schema.complete({"tier": tier})):
        own = [arm for arm in arms_of(launch.settings) if not arm.ceiling]
        served = [arm for arm in own if not arm.runs.startswith(farming.POOLS)]
        assert len(served) <= 4 or not declared()[launch.experiment].farming
        assert own[0].name == launch.settings.reference and own[-1].null


def test_a_farm_that_does_not_authenticate_is_measured_only_if_the_configuration_allows_it():
    chosen = {"arms": ["leastload", "dask unencrypted", "pure"], "launches": 2, "placements": ["node"]}
    without, allowed = (
        schema.complete({"experiments": {"task_latency": chosen}} | key)
        for key in ({}, {"unauthenticated_farms": True})
    )
    # Launches keep their numbers, so that setting the key later adds launches and changes none.
    assert [launch.number for launch in plan.launches(allowed)] == [1, 2, 3, 4]
    assert [launch.number for launch in plan.launches(without)] == [1, 3]
    assert plan.withheld(without) == {"dask unencrypted": ["task_latency"]}
    assert plan.withheld(allowed) == plan.withheld(replace(without, partial=True)) == {}


@pytest.mark.parametrize("experiment", ["task_latency", "task_throughput"])
def test_the_paper_tier_has_a_farm_with_msgpack_through_a_tunnel_as_the_notebook(experiment):
    run = config(experiment, "paper")
    farms = [run.farms[arm] for arm in run.experiments[experiment].arms]
    assert [farm for farm in farms if farm.get("ssh") and farm.get("packer") == "msgpack"]
