"""Is the plan of a run right: what its targets need, what is due, and in which jobs?"""

import math
from dataclasses import replace

import pytest
from measured import measure

from crossover.config import schema
from crossover.planning import batches, plan, receipt
from crossover.planning.batches import Site
from crossover.planning.demand import Demand, Forced

BOTH = {name: {"launches": 2, "placements": ["node"]} for name in ("async_cost", "zmq_bursts")}
FIRST, SECOND, *_ = plan.launches(schema.complete({"experiments": BOTH}))


@pytest.fixture
def config(tmp_path):
    return schema.complete({"results": str(tmp_path), "experiments": BOTH})


def made(config, *targets, forced=(), site=batches.HERE, of_cluster=()):
    held = receipt.held(config.results, config.tier)
    return plan.make(Demand(config, held, None, Forced(names=frozenset(forced)), dict(of_cluster)), targets, site)


EVERY = ["async_cost", "zmq_bursts", plan.ALL]


@pytest.mark.parametrize(
    ("target", "needed"),
    [
        ("all", EVERY),
        ("join", EVERY),
        ("zmq_bursts", ["zmq_bursts"]),
        ("results/report/index.html", EVERY),
        ("./results/medians.parquet", EVERY),
        ("results/figures/ladder", EVERY),
        ("results/figures/async_cost", ["async_cost"]),
        ("results/experiments/async_cost/launches.parquet", ["async_cost"]),
        ("results/launches/quick/async_cost/node/1-0123abcd.0.json", []),
        ("results/native/clock.so", []),
        ("doctor", []),
    ],
)
def test_a_target_needs_the_tables_of_its_experiments(target, needed):
    config = schema.complete({"experiments": BOTH})
    assert plan.owners(config, [target]) == {*needed}
    assert plan.owners(config, [target, "async_cost"]) == {*needed, "async_cost"}


def test_launches_without_a_receipt_and_forced_ones_are_due_in_the_order_of_their_repetitions(config):
    kept = str(measure(config, FIRST))
    found = made(config, "all")
    assert len(found.launches) == 4 and found.launches[kept] == FIRST
    assert kept not in found.due and found.measured == {kept}
    assert [launch.repetition for launch in found.due.values()] == [0, 1, 1]
    assert sorted(found.launches, key=found.place)[2:] == [*found.due][1:]
    assert found.tables["async_cost"] == [path for path, launch in found.launches.items() if launch in (FIRST, SECOND)]
    forced = made(config, "all", forced=[kept])
    assert kept in forced.due and forced.measured == frozenset()
    assert made(config, "all", forced=["launch"]).due.keys() == found.launches.keys()


def test_a_receipt_that_is_a_target_is_planned_alone(config):
    path, *_ = made(config, "all").launches
    found = made(config, path)
    assert (found.launches, found.due, found.tables) == ({path: FIRST}, {path: FIRST}, {})
    assert [*made(config, "async_cost", path).launches] == [*made(config, "async_cost").launches]


def test_launches_of_experiments_that_are_targets_together_share_jobs(config):
    site = Site({"batch_launches": 8, "batch_minutes": 60}, nodes=4)
    found = made(config, "async_cost", "zmq_bursts", site=site)
    assert [len(job.launches) for job in found.jobs] == [2, 2]
    for job in found.jobs:
        one, other = job.launches
        assert found.job(one) is found.job(other) is job and job.name
        assert (job.before(one), job.before(other)) == ([], [one])
        assert [job.share(one), job.share(other)] == [*job.shares]
    alone = made(config, "all").jobs[0]
    assert (alone.name, alone.before(*alone.launches)) == (None, [])
    assert (found.job("another").name, found.job("another").share("another")) == (None, 1)
    assert found.estimate.outlook.startswith("tier quick: 4 launches in 2 jobs; about")


def test_a_launch_that_an_earlier_run_left_without_a_receipt_has_a_job_of_its_own(config):
    site = Site({"batch_launches": 8, "batch_minutes": 60})
    failed, *_ = made(config, "all", site=site).due
    log = receipt.Files(receipt.Path(failed)).log
    log.parent.mkdir(parents=True)
    log.touch()
    *_, last = made(config, "all", site=site).jobs
    assert [*last.launches] == [failed]


def test_measured_launches_that_differ_are_a_conflict_only_if_a_target_needs_them_and_nothing_forces_them(config):
    measure(config, FIRST, target_width=0.9)
    assert "async_cost, placement node, launch 1: target_width" in made(config, "all").conflict
    assert made(config, "zmq_bursts").conflict == ""
    assert made(config, "all", forced=["launch"]).conflict == ""
    assert made(replace(config, remeasure=True), "all").conflict == ""


def test_a_partial_plan_has_the_receipts_that_exist_and_measures_nothing(config):
    path = str(measure(config, FIRST, target_width=0.9))
    found = made(replace(config, partial=True), "all")
    assert found.tables == {"async_cost": [path], "zmq_bursts": []}
    assert (found.launches, found.jobs, found.conflict) == ({}, (), "")
    assert found.remarks[0] == "partial: 1 measured launches and 0 holes of tier quick"


def test_a_plan_names_what_its_targets_leave_out():
    both = {name: own | {"placements": ["nodes"]} for name, own in BOTH.items()}
    config = replace(schema.complete({"experiments": both}), too_few_nodes="why")
    found = plan.make(Demand(config, {}), ["zmq_bursts"])
    needs = "zmq_bursts (placement nodes) needs 2 nodes; this cluster gives 1"
    assert found.estimate.outlook.splitlines()[1:] == [f"not measured: {needs}; why"]


def test_pairs_on_three_nodes_need_four(config):
    few = replace(on(config, 3), too_few_nodes="why")
    assert plan.wider(few) == "mpi_pairs (placement nodes) needs 4 nodes; this cluster gives 3"
    assert plan.wider(on(config, 4)) == plan.wider(on(config, 1)) == ""


def test_the_jobs_request_at_most_what_the_cluster_grants(config):
    longest = made(config, "all", site=Site({"slurm_partition": "x"}, most_minutes=3))
    assert all(sum(job.shares) <= 3 for job in longest.jobs)
    assert max(math.ceil(minutes) for job in longest.jobs for minutes in job.minutes) >= 1


def on(config, hosts, **stated):
    """Pairs of hosts as planned on a cluster of so many nodes."""
    whole = schema.complete({"results": config.results, "experiments": {"mpi_pairs": {"launches": 3} | stated}})
    return plan.fitted(replace(whole, hosts=hosts))


PAIRS = {"mpi_pairs": (plan.HOSTS,)}


@pytest.mark.parametrize("now", [4, 5, 7])
def test_measured_pairs_keep_their_hosts_and_those_that_are_due_take_the_present_ones(config, now):
    first, second, _ = plan.launches(on(config, 5))
    kept = [str(measure(config, each)) for each in (first, second)]
    found = made(on(config, now), "all", of_cluster=PAIRS)
    assert found.conflict == "" and found.measured == {*kept}
    assert [launch.settings.nodes for launch in found.launches.values()] == [5, 5, now]
    assert [launch.settings.nodes for launch in found.due.values()] == [now]
    assert [path for path in found.tables["mpi_pairs"] if path in kept] == kept


def test_pairs_that_differ_in_more_than_hosts_or_whose_hosts_the_user_states_are_a_conflict(config):
    measure(config, next(plan.launches(on(config, 5))))
    assert "hosts: 5, now 4" in made(on(config, 4), "all").conflict
    assert "target_width" in made(on(config, 4, target_width=0.5), "all", of_cluster=PAIRS).conflict


def test_pairs_that_are_forced_or_remeasured_take_the_present_hosts(config, monkeypatch):
    path = str(measure(config, next(plan.launches(on(config, 5))), facts={"code": "before"}))
    assert {
        each.settings.nodes for each in made(on(config, 4), "all", forced=["launch"], of_cluster=PAIRS).due.values()
    } == {4}
    again = made(replace(on(config, 4), remeasure=True), "all", of_cluster=PAIRS)
    assert path not in again.launches and {each.settings.nodes for each in again.due.values()} == {4}


@pytest.mark.parametrize(("name", "key", "before", "now"), [("task_latency", "engines", 8, 2)])
def test_an_experiment_with_measured_launches_keeps_their_engines(config, name, key, before, now):
    def having(count):
        chosen = {name: {"launches": 2, "placements": ["node"], "arms": ["leastload", "threads"], key: count}}
        return schema.complete({"results": config.results, "experiments": chosen})

    kept = str(measure(config, next(plan.launches(having(before)))))
    assert f"{key}: {before}, now {now}" in made(having(now), "all").conflict
    found = made(having(now), "all", of_cluster={name: (key,)})
    assert found.conflict == "" and kept in found.measured
    assert {each.settings.engine_count() for each in found.due.values()} == {before}
    again = made(replace(having(now), remeasure=True), "all", of_cluster={name: (key,)})
    assert {each.settings.engine_count() for each in again.due.values()} == {now}
