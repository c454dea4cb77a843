"""Does each finding follow from the facts, and name the right key?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scenes import alone, attempt, healthy, job, laptop, world

from crossover.doctor import conclude
from crossover.doctor.checks import CHECKS, module
from crossover.doctor.finding import Finding, Seen, Verdict


def judged(check: str, seen: Seen) -> Finding:
    found: Finding = module(check).judge(seen)
    return found


def with_pair(look: str, **changed: Any) -> Seen:
    """A healthy cluster, except for one look of the job on two hosts."""
    facts = job("node1", "node2")
    facts["pair"][look] |= changed
    return replace(healthy(), nodes=facts)


@pytest.mark.parametrize("check", CHECKS)
def test_on_a_healthy_cluster_all_is_well(check: str) -> None:
    assert judged(check, healthy()).verdict is Verdict.OK


@pytest.mark.parametrize("check", CHECKS)
def test_on_one_machine_all_is_well_and_two_hosts_are_unknown(check: str) -> None:
    assert judged(check, laptop()).verdict is (Verdict.UNKNOWN if check == "hosts" else Verdict.OK)


@pytest.mark.parametrize("check", ["ports", "clocks", "temporary", "shared"])
def test_one_host_explains_why_a_finding_is_unknown(check: str) -> None:
    assert "one host" in judged(check, laptop()).seen or "needs a second host" in judged(check, laptop()).seen


@pytest.mark.parametrize("check", ["launcher", "hosts", "processors", "ports", "clocks", "temporary", "shared"])
def test_without_a_job_the_finding_is_unknown(check: str) -> None:
    lost = {"node": "invalid partition specified: nope", "nodes": "invalid partition specified: nope"}
    found = judged(check, Seen("slurm", here=healthy().here, lost=lost))
    assert (found.verdict, found.key) == (Verdict.UNKNOWN, "")


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (
            "invalid partition specified: nope; Batch job submission failed: Invalid partition name specified",
            "partition",
        ),
        ("Batch job submission failed: Invalid account or account/partition combination specified", "account"),
        ("Batch job submission failed: Invalid qos specification", "qos"),
        ("Batch job submission failed: Invalid feature specification", "constraint"),
        ("Batch job submission failed: Requested node configuration is not available", "partition"),
        ("it would wait for ever, because of Slurm's QOSMaxWallDurationPerJobLimit", "partition"),
        ("something new", ""),
    ],
)
def test_a_refusal_names_the_key(words: str, key: str) -> None:
    found = judged("executor", Seen("slurm", lost={"node": words, "nodes": words}))
    assert (found.verdict, found.key) == (Verdict.PROBLEM, key)
    assert words in found.seen
    assert found.step


def test_a_long_queue_is_a_warning() -> None:
    facts = job("node1", "node1")
    facts["job"]["queued_seconds"] = 600.0
    found = judged("executor", replace(healthy(), node=facts))
    assert found.verdict is Verdict.WARNING
    assert "600 s" in found.seen


def test_a_limit_of_jobs_that_a_run_may_reach_is_a_warning() -> None:
    found = judged("executor", replace(healthy(), fit={"most_jobs": "20"}))
    assert (found.verdict, found.key, found.value) == (Verdict.WARNING, "jobs", "20")


def test_an_impossible_job_for_two_hosts_is_a_problem_only_for_two_hosts() -> None:
    words = "it would wait for ever, because of Slurm's PartitionNodeLimit"
    seen = replace(healthy(), nodes={}, lost={"nodes": words})
    found = judged("hosts", seen)
    assert (found.verdict, found.key) == (Verdict.PROBLEM, "partition")
    assert words in found.seen
    assert {judged(check, seen).verdict for check in CHECKS if check != "hosts"} == {Verdict.OK}


def test_if_the_site_allows_one_node_two_hosts_are_unknown() -> None:
    assert judged("hosts", replace(healthy(), nodes={})).verdict is Verdict.UNKNOWN


def singletons(*hosts: str) -> dict[str, Any]:
    """A job whose launcher starts ranks that do not find each other; with pmi2 they do."""
    facts = job(*hosts)
    facts["attempts"] = [
        alone("srun --mpi=none", *hosts),
        attempt("srun --mpi=pmix", said="PMIx_Init failed"),
        attempt("srun --mpi=pmi2", world(*hosts)),
    ]
    return facts


def test_ranks_that_come_up_alone_are_a_problem_and_the_launcher_that_works_is_named() -> None:
    seen = replace(healthy(), node=singletons("node1", "node1"), nodes=singletons("node1", "node2"))
    found = judged("launcher", seen)
    assert (found.verdict, found.key, found.value) == (Verdict.PROBLEM, "mpi", "srun --mpi=pmi2")
    assert "came up alone" in found.seen
    assert judged("hosts", seen).verdict is Verdict.UNKNOWN, "one cause must be one problem"


def test_if_no_launcher_works_the_output_of_each_is_shown() -> None:
    facts = job("node1", "node1")
    facts["attempts"] = [alone("mpiexec", "node1", "node1"), attempt("srun --mpi=pmix", said="PMIx_Init failed")]
    found = judged("launcher", replace(healthy(), node=facts))
    assert (found.verdict, found.key, found.value) == (Verdict.PROBLEM, "mpi", "")
    assert "PMIx_Init failed" in found.seen


def test_ranks_on_one_of_two_hosts_are_a_problem_for_two_hosts() -> None:
    facts = job("node1", "node2")
    facts["attempts"] = [attempt("mpiexec", world("node1", "node1")), attempt("srun", world("node1", "node2"))]
    found = judged("hosts", replace(healthy(), nodes=facts))
    assert (found.verdict, found.key, found.value) == (Verdict.PROBLEM, "mpi", "srun")
    assert "both ranks on node1" in found.seen


def test_a_firewall_on_the_chosen_interface_is_a_problem_and_an_open_one_is_named() -> None:
    closed = {"interface": "eth0", "address": "10.0.0.1", "chosen": True, "error": "timed out"}
    through = {"interface": "ib0", "address": "10.1.0.1", "chosen": False, "error": ""}
    found = judged("ports", with_pair("ports", tried=[closed, through]))
    assert (found.verdict, found.key, found.value) == (Verdict.PROBLEM, "interface", "ib0")
    found = judged("ports", with_pair("ports", tried=[closed, through | {"error": "timed out"}]))
    assert (found.verdict, found.value) == (Verdict.PROBLEM, "")


SLOW = {"interface": "eth0", "address": "10.0.0.1", "chosen": True, "error": "", "megabits": 1000, "rdma": False}
FAST = {"interface": "ib0", "address": "10.1.0.1", "chosen": False, "error": "", "megabits": 100_000, "rdma": True}


@pytest.mark.parametrize(
    ("chosen", "other", "better"),
    [
        ({}, {}, True),
        ({}, {"rdma": False}, True),
        ({"megabits": None}, {}, True),
        ({}, {"megabits": None}, True),
        ({}, {"megabits": 100}, False),
        ({"megabits": 100_000}, {"rdma": False}, False),
        ({"megabits": None}, {"rdma": False}, False),
        ({}, {"rdma": False, "megabits": None}, False),
        ({"rdma": True}, {"rdma": False}, False),
        ({}, {"error": "timed out"}, False),
    ],
)
def test_a_faster_interface_that_the_other_host_reaches_is_a_warning(chosen: Any, other: Any, better: bool) -> None:
    found = judged("ports", with_pair("ports", tried=[SLOW | chosen, FAST | other]))
    assert found.verdict is (Verdict.WARNING if better else Verdict.OK)
    if better:
        assert (found.key, found.value) == ("interface", "ib0")
        assert "eth0 (" in found.seen and "ib0 (" in found.seen
        assert "in profiles/slurm/site.yaml set `interface: ib0`" in conclude.table({"ports": found}, "slurm", 200)


def test_of_two_faster_interfaces_the_best_is_named() -> None:
    middle = FAST | {"interface": "eth1", "megabits": 200_000, "rdma": False}
    found = judged("ports", with_pair("ports", tried=[SLOW, middle, FAST]))
    assert found.seen == (
        "ranks use eth0 (1,000 Mbit/s, no RDMA); the other host can also connect through ib0 (100,000 Mbit/s, RDMA)"
    )


@pytest.mark.parametrize(
    ("count", "end"),
    [
        (2, " and node2"),
        (3, "nodes that are up, so that a slow node shows, add to profiles/slurm/site.yaml: `node_list: [n1, n2, n3]`"),
        (9, "(the first 8 of 9), so that a slow node shows, add to profiles/slurm/site.yaml: "
            "`node_list: [n1, n2, n3, n4, n5, n6, n7, n8]`"),
    ],
)  # fmt: skip
def test_the_line_with_the_nodes_to_rotate_over_is_told(count: int, end: str) -> None:
    found = judged("hosts", replace(healthy(), nodes_up=[f"n{number}" for number in range(1, count + 1)]))
    assert found.verdict is Verdict.OK
    assert found.seen.endswith(end)


def test_an_unknown_interface_is_a_problem_and_an_open_one_is_named() -> None:
    through = {"interface": "ib0", "address": "10.1.0.1", "chosen": False, "error": ""}
    found = judged("ports", with_pair("ports", trouble="host node1 has no interface ib9", tried=[through]))
    assert (found.verdict, found.key, found.value) == (Verdict.PROBLEM, "interface", "ib0")
    assert "no interface ib9" in found.seen


@pytest.mark.parametrize(
    ("mpi", "value"),
    [("srun --mpi=pmi2", "srun --mpi=pmi2 --cpu-bind=none"), ("/opt/bin/mpiexec", "/opt/bin/mpiexec --bind-to none")],
)
def test_bound_ranks_are_a_problem_and_the_launchers_option_against_it_is_named(mpi: str, value: str) -> None:
    seen = with_pair("processors", ranks=[{"free": 16, "of": 16}, {"free": 2, "of": 16}])
    seen = replace(seen, nodes={**seen.nodes, "attempts": [attempt(mpi, world("node1", "node2"))]})
    found = judged("processors", seen)
    assert (found.verdict, found.key, found.value) == (Verdict.PROBLEM, "mpi", value)
    assert "may use 2 of its host's 16" in found.seen


def test_a_host_with_fewer_processors_than_the_first_binds_nobody() -> None:
    found = judged("processors", with_pair("processors", ranks=[{"free": 16, "of": 16}, {"free": 8, "of": 8}]))
    assert found.verdict is Verdict.OK


@pytest.mark.parametrize(("offset", "verdict"), [(-40.0, Verdict.WARNING), (1.2, Verdict.WARNING), (0.5, Verdict.OK)])
def test_clocks_that_differ_too_much_to_compare_file_times_are_a_warning(offset: float, verdict: Verdict) -> None:
    found = judged("clocks", with_pair("clocks", offset_seconds=offset))
    assert found.verdict is verdict
    assert f"{abs(offset):.2g} s" in found.seen


def test_clocks_that_differ_within_the_uncertainty_are_fine() -> None:
    found = judged("clocks", with_pair("clocks", offset_seconds=1.5, within_seconds=1.0))
    assert found.verdict is Verdict.OK


def test_a_clock_that_is_coarse_on_one_host_is_a_warning() -> None:
    coarse = {"step_seconds": 4e-6, "reading_seconds": 1e-6, "source": "hpet"}
    fine = {"step_seconds": 4e-8, "reading_seconds": 6e-8, "source": "tsc"}
    found = judged("clocks", with_pair("clocks", measuring=[fine, coarse]))
    assert (found.verdict, found.key) == (Verdict.WARNING, "constraint")
    assert "hpet" in found.seen


def temporary(name: str, **changed: Any) -> Seen:
    hosts = job("node1", "node2")["pair"]["temporary"]["hosts"]
    hosts[1][name] |= changed
    return with_pair("temporary", hosts=hosts)


def test_a_temporary_folder_that_both_hosts_share_is_a_warning() -> None:
    found = judged("temporary", with_pair("temporary", seen_by_other=True))
    assert found.verdict is Verdict.WARNING
    assert "both hosts see the same files" in found.seen
    assert "TMPDIR" in found.step


def test_a_temporary_folder_on_the_network_is_a_warning_even_on_one_host() -> None:
    facts = laptop()
    facts.node["pair"]["temporary"]["hosts"][0]["folder"]["file_system"] = "nfs4"
    assert judged("temporary", facts).verdict is Verdict.WARNING


@pytest.mark.parametrize("name", ["folder", "memory"])
def test_a_folder_that_is_full_or_read_only_on_one_host_is_found(name: str) -> None:
    assert judged("temporary", temporary(name, free_bytes=1 << 20)).verdict is Verdict.WARNING
    closed = judged("temporary", temporary(name, error="Read-only file system"))
    assert closed.verdict is Verdict.PROBLEM
    assert "Read-only file system" in closed.seen


def test_a_problem_fails_the_run_and_a_warning_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = SimpleNamespace(overwrite_resources={})
    workflow = SimpleNamespace(executor_plugin=SimpleNamespace(name="slurm"), resource_settings=settings)
    warned, troubled = with_pair("temporary", seen_by_other=True), with_pair("shared", visible_seconds=[0.1, None])
    for seen, code in ((healthy(), 0), (warned, 0), (troubled, 1)):
        monkeypatch.setattr(conclude, "gather", lambda *_, seen=seen: seen)
        assert conclude.conclude(workflow, tmp_path, [], []) == code


def test_a_folder_that_the_hosts_do_not_share_is_a_problem() -> None:
    found = judged("shared", with_pair("shared", visible_seconds=[0.1, None]))
    assert found.verdict is Verdict.PROBLEM
    assert "not seen by the other" in found.seen


def test_files_that_appear_late_are_a_warning_with_the_necessary_wait() -> None:
    found = judged("shared", with_pair("shared", visible_seconds=[0.1, 31.0, 2.0]))
    assert found.verdict is Verdict.WARNING
    assert "latency-wait" in found.step
    assert "62" in found.step


def test_a_shared_folder_that_is_full_is_a_problem() -> None:
    full = with_pair("shared", error="No space left on device", write_seconds=[], visible_seconds=[])
    found = judged("shared", full)
    assert found.verdict is Verdict.PROBLEM
    assert "No space left on device" in found.seen


@pytest.mark.parametrize(
    ("accounts", "seconds", "verdict"),
    [
        (True, 5, Verdict.OK),
        (False, 300, Verdict.OK),
        (False, 180, Verdict.OK),
        (False, 120, Verdict.WARNING),
        (False, 59, Verdict.PROBLEM),
        (False, None, Verdict.UNKNOWN),
    ],
)
def test_without_accounts_ended_jobs_must_be_remembered(accounts: bool, seconds: int | None, verdict: Verdict) -> None:
    here = {**healthy().here, "queue": {"ended": {"accounts": accounts, "seconds": seconds}}}
    found = judged("queue", replace(healthy(), here=here))
    assert found.verdict is verdict
    assert ("MinJobAge=300 in slurm.conf" in found.step) is (verdict in (Verdict.WARNING, Verdict.PROBLEM))


def test_a_missing_compiler_is_a_warning_that_names_the_missing_ceiling() -> None:
    here = {**healthy().here, "compiler": {**healthy().here["compiler"], "the MPI ceiling": ""}}
    found = judged("compiler", replace(healthy(), here=here))
    assert found.verdict is Verdict.WARNING
    assert "the MPI ceiling" in found.seen
    assert "MPICC" in found.step


def test_without_quarto_the_preview_is_named_and_a_broken_quarto_is_a_problem() -> None:
    found = judged("quarto", replace(healthy(), here={"quarto": {"path": "", "version": ""}}))
    assert found.verdict is Verdict.OK
    assert "preview" in found.seen
    found = judged("quarto", replace(healthy(), here={"quarto": {"path": "/bin/quarto", "version": ""}}))
    assert found.verdict is Verdict.PROBLEM


def test_launches_that_do_not_fit_the_partition_are_named() -> None:
    fit = {"tier": "smoke", "wide": "", "left_out": ""}
    assert "tier smoke: no launch has more ranks" in judged("processors", replace(healthy(), fit=fit)).seen
    wide = judged("processors", replace(healthy(), fit=fit | {"wide": "6 of 27 launches are wide"}))
    assert wide.verdict is Verdict.OK
    assert wide.seen.endswith("; tier smoke: 6 of 27 launches are wide")
    narrow = replace(healthy(), nodes={}, lost={"nodes": "no"}, fit=fit | {"left_out": "zmq_latency, task_map"})
    assert "a run leaves out launches across hosts of zmq_latency, task_map" in judged("hosts", narrow).seen
