"""Do experiments, launches and resources follow correctly from a configuration?"""

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossover.config import schema
from crossover.design.arm import arms
from crossover.design.axis import points
from crossover.design.families import farming
from crossover.design.settings import canonical
from crossover.experiments import declared
from crossover.experiments.mpi_pingpong import PLAYING
from crossover.planning import plan
from crossover.planning.plan import heats


def pingpong(**chosen):
    return {"experiments": {"mpi_pingpong": chosen}}


def completed(**chosen):
    """A complete ping-pong experiment with these settings."""
    return schema.complete(pingpong(**chosen))["experiments"]["mpi_pingpong"]


def of_pingpong(settings, placement, launch=1):
    """The settings of a launch of the ping-pong."""
    return plan.of_launch("mpi_pingpong", settings, placement, launch)


def measured(settings, placement="node", launch=1, experiment="mpi_pingpong"):
    """The settings that a job gets from Snakemake."""
    return canonical(plan.of_launch(experiment, settings, placement, launch))


def test_points_are_evenly_spaced_on_a_logarithmic_axis_or_listed_in_rising_order():
    assert points({"from": 100, "to": 10000, "per_decade": 3}) == [100, 215, 464, 1000, 2154, 4642, 10000]
    assert points([1024, 8, 128]) == [8, 128, 1024]


whole = st.integers(1, 10**12)


@given(st.tuples(whole, whole).map(sorted).filter(lambda ends: ends[0] < ends[1]), st.integers(1, 12))
def test_points_rise_from_exactly_the_first_to_exactly_the_last(ends, per_decade):
    first, last = ends
    found = points({"from": first, "to": last, "per_decade": per_decade})
    assert (found[0], found[-1]) == (first, last)
    assert found == sorted(set(found))
    assert all(isinstance(point, int) for point in found)


def test_the_order_of_arms_is_reference_rivals_null_arm_ceilings():
    found = arms({"arms": ["a", "b", "c"], "reference": "b", "ceilings": ["in C"]})
    assert [(arm.name, arm.runs, arm.null, arm.ceiling) for arm in found] == [
        ("b", "b", False, False),
        ("a", "a", False, False),
        ("c", "c", False, False),
        ("null", "b", True, False),
        ("in C", "in C", False, True),
    ]


@pytest.mark.parametrize(("placement", "ranks", "nodes"), [("process", 1, 1), ("node", 2, 1), ("nodes", 2, 2)])
def test_two_peers_need_two_ranks_and_across_hosts_two_hosts_and_a_job_two_tasks(placement, ranks, nodes):
    launch = of_pingpong(completed(), placement)
    assert (plan.ranks("mpi_pingpong", launch), plan.nodes("mpi_pingpong", launch)) == (ranks, nodes)
    assert plan.tasks("mpi_pingpong", launch) == 2


def test_a_ping_pong_of_engines_needs_a_client_and_a_farm():
    plain, engines = (of_pingpong(completed(players=["rank", "engine"]), "node", number) for number in (1, 2))
    assert (plain["player"], plan.ranks("mpi_pingpong", plain), "entrants" in plain) == ("rank", 2, False)
    assert (engines["player"], plan.ranks("mpi_pingpong", engines), engines["entrants"]) == (
        "engine",
        3,
        {"engine": PLAYING},
    )


def of_farm(placement, **chosen):
    """The settings of a farm's first launch."""
    config = schema.complete({"experiments": {"task_latency": chosen}})
    return plan.of_launch("task_latency", plan.settings_of(config, "task_latency"), placement, 1)


@pytest.mark.parametrize(
    ("hosts", "engines", "taken", "ranks"), [(2, 2, 2, 9), (2, 1, 2, 9), (2, 3, 2, 17), (4, 2, 2, 9), (4, 8, 4, 33)]
)
def test_a_farm_has_equal_places_on_all_hosts_and_an_engine_on_each(hosts, engines, taken, ranks):
    """For two rivals, the null arm and the ceiling; places without an engine stay empty."""
    launch = of_farm("nodes", hosts=hosts, engines=engines)
    assert (plan.nodes("task_latency", launch), plan.ranks("task_latency", launch)) == (taken, ranks)
    assert ranks == 1 + taken * farming.places(launch) * len(arms(launch))


def test_curves_and_arms_of_a_single_host_are_left_out_across_hosts():
    config = schema.complete({"tier": "paper"})
    across = {
        name: plan.of_launch(name, plan.settings_of(config, name), "nodes", 1)
        for name in ("zmq_latency", "mpi_pingpong")
    }
    assert across["zmq_latency"]["curves"] == ["REQ/REP over tcp", "REQ/REP over tcp, legacy"]
    assert across["mpi_pingpong"]["ceilings"] == ["C", "raw TCP"]
    farms = plan.in_placement("task_latency", plan.settings_of(config, "task_latency"), "nodes")
    within = set(config["experiments"]["task_latency"]["arms"]) - set(farms["arms"])
    over_ssh = {"leastload over ssh", "leastload msgpack over ssh", "pure over ssh"}
    chunked = {"concurrent.futures chunk 8", "multiprocessing.Pool chunk 8", "joblib batch 1"}
    assert within == {"concurrent.futures", "multiprocessing.Pool", "joblib"} | chunked | over_ssh


def test_launches_on_one_host_do_not_depend_on_the_number_of_hosts():
    two, four = (plan.settings_of(farms(hosts=hosts), "task_latency") for hosts in (2, 4))
    assert measured(two, experiment="task_latency") == measured(four, experiment="task_latency")
    assert measured(two, "nodes", 1, "task_latency") != measured(four, "nodes", 1, "task_latency")


@pytest.mark.parametrize(("hosts", "placements"), [(1, {"node"}), (2, {"node", "nodes"}), (3, {"node", "nodes"})])
def test_launches_across_hosts_run_if_there_are_enough_hosts(hosts, placements):
    config = schema.complete(pingpong()) | {"hosts": hosts}
    assert {launch["placement"] for launch in plan.launches(config)} == placements
    waiting = {} if hosts > 1 else {"mpi_pingpong": {"nodes": 2}}
    assert plan.waiting(config) == waiting
    assert plan.most_hosts(config) == min(hosts, 2)


def test_a_run_has_one_host_by_default():
    config = schema.complete({})
    assert list(plan.launches(config)) == list(plan.launches(config | {"hosts": 1}))
    across = {name for name, settings in config["experiments"].items() if "nodes" in settings["placements"]}
    assert set(plan.waiting(config)) == across > {"mpi_pingpong"}


@pytest.mark.parametrize(("engines", "ranks"), [(1, 5), (2, 9), (5, 21)])
def test_ranks_and_tasks_are_one_farm_for_each_arm_and_the_driver(engines, ranks):
    """For two rivals, the null arm's own farm and the ceiling's."""
    settings = of_farm("node", engines=engines, arms=["leastload", "pure"])
    assert plan.ranks("task_latency", settings) == plan.tasks("task_latency", settings) == ranks


@pytest.mark.parametrize("tier", schema.TIERS)
def test_the_supervisors_limit_exceeds_the_budget(tier):
    config = schema.complete({"tier": tier})
    for launch in plan.launches(config):
        name, placement, number = launch.values()
        settings = plan.of_launch(name, config["experiments"][name], placement, number)
        limit = plan.limit_seconds(name, settings)
        assert limit > 2 * settings["budget_seconds"] + 60 + 2 * plan.ranks(name, settings)


def test_each_placement_may_have_its_own_budget():
    settings = completed(budget_seconds=3) | {"budget_seconds": {"node": 5, "process": 7}}
    assert of_pingpong(settings, "process")["budget_seconds"] == 7
    assert of_pingpong(completed(budget_seconds=3), "node")["budget_seconds"] == 3


OF_OTHERS = {"launches": 9, "placements": ["nodes"], "refine_points": 4, "refine_metric": "round trip"}


@pytest.mark.parametrize("setting", OF_OTHERS)
def test_a_launch_does_not_depend_on_other_launches(setting):
    assert setting not in json.loads(measured(completed()))
    assert measured(completed(**{setting: OF_OTHERS[setting]})) == measured(completed())


@pytest.mark.parametrize("setting", sorted(set(completed()) - set(OF_OTHERS)))
def test_a_launch_depends_on_every_other_setting_and_its_placement(setting):
    everything = completed()
    assert measured(everything | {setting: "another"}) != measured(everything) != measured(everything, "process")


names = st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=2)


@given(
    names,
    st.integers(1, 8),
    st.sampled_from([[], ["multiple"], ["single", "multiple"]]),
    st.sampled_from([[], ["rank"], ["rank", "engine"]]),
    st.integers(1, 4),
)
def test_heats_divide_the_rivals_and_each_gets_all_launches(arms, size, levels, players, launches):
    chosen = {"arms": arms, "reference": arms[-1], "rivals_per_heat": size}
    chosen |= {"thread_levels": levels, "players": players}
    chosen["budget_seconds"] = 1
    config = {"experiments": {"mpi_pingpong": chosen | {"launches": launches, "placements": ["node"]}}}
    numbers = [launch["launch"] for launch in plan.launches(config)]
    assert numbers == list(range(1, len(numbers) + 1))
    entries = []
    for number in numbers:
        own = of_pingpong(chosen, "node", number)
        assert own["arms"][0] == arms[-1] and 1 <= len(own["arms"]) - 1 <= size
        entries += [(own.get("thread_level"), own.get("player"), arm) for arm in own["arms"][1:]]
    expected = list(product(levels or [None], players or [None], arms[:-1]))
    assert sorted(entries, key=str) == sorted(expected * launches, key=str)


def test_consecutive_launches_have_different_heats_so_that_drift_affects_all():
    chosen = {"arms": ["a", "b", "c"], "reference": "a", "rivals_per_heat": 1, "budget_seconds": 1}
    rivals = [plan.of_launch("zmq_latency", chosen, "node", number)["arms"][1] for number in range(1, 5)]
    assert rivals == ["b", "c", "b", "c"]


def test_an_entrant_that_disturbs_the_others_has_a_heat_of_its_own():
    loud = {"farm": "loud", "alone": True}
    chosen = {"arms": ["a", "b", "c", "d", "e"], "reference": "a", "entrants": {"b": loud, "d": loud, "e": {}}}
    found = heats("task_latency", chosen | {"rivals_per_heat": 3})
    assert ["".join(heat["arms"]) for heat in found] == ["ace", "ab", "ad"]


@given(names, st.lists(st.integers(1, 64), unique=True, min_size=1, max_size=4), st.integers(1, 3))
def test_each_number_of_engines_has_its_own_heats(arms, counts, launches):
    chosen = {"arms": arms, "reference": arms[0], "rivals_per_heat": 2, "engine_counts": counts, "budget_seconds": 1}
    chosen |= {"launches": launches, "placements": ["node"], "entrants": {name: {"farm": "a"} for name in arms}}
    config = {"experiments": {"task_scaling": chosen}, "entrants": chosen["entrants"]}
    entries = []
    for each in plan.launches(config):
        own = plan.of_launch("task_scaling", plan.settings_of(config, "task_scaling"), "node", each["launch"])
        assert "engine_counts" not in own
        assert plan.ranks("task_scaling", own) == 1 + own["engines"] * (len(own["arms"]) + 1)
        entries += [(own["engines"], arm) for arm in own["arms"][1:]]
    assert sorted(entries) == sorted((count, arm) for count in counts for arm in arms[1:] for _ in range(launches))


def test_a_launch_does_not_depend_on_the_other_numbers_of_engines():
    config = schema.complete({"experiments": {"task_scaling": {"engine_counts": [1, 4]}}})
    more = schema.complete({"experiments": {"task_scaling": {"engine_counts": [1, 2, 4]}}})
    first, second = (plan.settings_of(each, "task_scaling") for each in (config, more))
    assert measured(first, experiment="task_scaling") == measured(second, experiment="task_scaling")
    assert json.loads(measured(second, launch=3, experiment="task_scaling"))["engines"] == 4


def farms(**chosen):
    """A complete configuration with the farms' first experiment."""
    return schema.complete({"tier": "standard", "experiments": {"task_latency": chosen}})


@pytest.mark.parametrize("tier", schema.TIERS)
def test_at_most_four_farms_besides_ceilings_and_pools_run_at_once(tier):
    config = schema.complete({"tier": tier})
    for launch in plan.launches(config):
        name = launch["experiment"]
        settings = plan.of_launch(name, plan.settings_of(config, name), "node", launch["launch"])
        own = [arm for arm in arms(settings) if not arm.ceiling]
        served = [arm for arm in own if arm.runs not in farming.POOLS]
        assert len(served) <= 4 or not declared()[name].farming
        assert own[0].name == settings["reference"] and own[-1].null


def test_a_launch_knows_only_the_entrants_that_take_part():
    config = farms(arms=["pure", "lru", "dask"], reference="pure", ceilings=["bare zmq"])
    known = [
        set(plan.of_launch("task_latency", plan.settings_of(config, "task_latency"), "node", number)["entrants"])
        for number in (1, 2)
    ]
    assert known == [{"pure", "lru", "bare zmq"}, {"pure", "dask", "bare zmq"}]
    assert "entrants" not in plan.settings_of(schema.complete({}), "mpi_pingpong")


def test_a_farm_that_does_not_authenticate_is_measured_only_if_the_configuration_allows_it():
    chosen = {"arms": ["leastload", "dask unencrypted", "pure"], "launches": 2, "placements": ["node"]}
    without, allowed = (
        schema.complete({"experiments": {"task_latency": chosen}} | key)
        for key in ({}, {"unauthenticated_farms": True})
    )
    # The launches of a heat keep their numbers, so that setting the key later adds launches and changes none.
    assert [launch["launch"] for launch in plan.launches(allowed)] == [1, 2, 3, 4]
    assert [launch["launch"] for launch in plan.launches(without)] == [1, 3]
    assert plan.withheld(without) == {"dask unencrypted": ["task_latency"]}
    assert plan.withheld(allowed) == plan.withheld(without | {"partial": True}) == {}


@pytest.mark.parametrize("experiment", ["task_latency", "task_throughput"])
def test_the_paper_tier_has_a_farm_with_msgpack_through_a_tunnel_as_the_notebook(experiment):
    config = schema.complete({"tier": "paper"})
    farms = [config["entrants"][arm] for arm in config["experiments"][experiment]["arms"]]
    assert [farm for farm in farms if farm.get("ssh") and farm.get("packer") == "msgpack"]
