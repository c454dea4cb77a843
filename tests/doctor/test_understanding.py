"""Does the doctor understand the messages of Slurm, Snakemake and the launchers?"""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from scenes import healthy, laptop

from crossover.config import rotation
from crossover.doctor import conclude, file_systems, job
from crossover.doctor.checks import module, ports, queue
from crossover.doctor.finding import Finding, Seen, Verdict
from crossover.doctor.pair import MARK
from crossover.slurm import partition

REFUSED = """\
Error in rule examine:
    message: SLURM sbatch failed. The error message was 'sbatch: error: invalid partition specified: nope
sbatch: error: Batch job submission failed: Invalid partition name specified'.
    sbatch call:
        sbatch --parsable
For further error details see the cluster/cloud log and the log files of the involved rule(s).
    jobid: 1
    output: results/doctor/node.json
    log: results/logs/doctor/node.log (check log file(s) for error details)
[Sat Nov 21 18:24:24 2026]
Error in rule examine:
    message: SLURM-job '1' failed, SLURM status is: 'FAILED'. Detailed failure reason unavailable
    jobid: 2
    output: results/doctor/nodes.json
    log: results/logs/doctor/nodes.log, {log} (check log file(s) for error details)
"""
"""Output of Snakemake 9.27 with its Slurm plugin 2.8."""


def test_each_lost_job_is_given_its_own_reason(tmp_path: Path) -> None:
    log = tmp_path / "1.log"
    log.write_text("python: No such file or directory\n\n")
    said = REFUSED.format(log=log)
    assert conclude.last_words(said, "node") == (
        "invalid partition specified: nope; Batch job submission failed: Invalid partition name specified"
    )
    words = conclude.last_words(said, "nodes")
    assert "'FAILED'" in words
    assert "python: No such file or directory" in words
    assert str(log) in words


def test_words_of_slurm_that_nobody_knows_are_printed_as_they_are() -> None:
    said = REFUSED.replace("invalid partition specified: nope", "the moon is full").replace(
        "Invalid partition name specified", "Ask again in four weeks"
    )
    words = conclude.last_words(said, "node")
    found = module("executor").judge(Seen("slurm", lost={"node": words, "nodes": words}))
    told = " ".join(conclude.table({"executor": found}, "slurm", 100).split())
    assert "the moon is full; Batch job submission failed: Ask again in four weeks" in told
    assert "site.yaml" not in told, "no key is known"


@pytest.mark.parametrize(
    ("mounted", "hint"),
    [("ext4", "(ext4)"), ("overlay", "(overlay)"), ("nfs4", ""), ("lustre", ""), ("beegfs_nodev", "")],
)
def test_a_job_without_facts_may_not_have_seen_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mounted: str, hint: str
) -> None:
    parts = [SimpleNamespace(mountpoint="/", fstype="ext4"), SimpleNamespace(mountpoint=sys.prefix, fstype="tmpfs")]
    parts.append(SimpleNamespace(mountpoint=str(Path(sys.prefix).resolve()), fstype=mounted))
    monkeypatch.setattr(file_systems.psutil, "disk_partitions", lambda **_: parts)
    said = REFUSED.format(log=tmp_path / "none")
    lost = conclude.gather(tmp_path, ["node", "nodes"], "slurm", said).lost
    told = f"`.venv` is at {sys.prefix}, on a file system of this host {hint}; compute nodes may not see it; "
    assert (told in lost["nodes"]) is bool(hint)
    assert "may not see it" not in lost["node"], "this one was refused"
    (tmp_path / "node.json").write_text('{"host": "node1"}')
    assert "may not see it" not in conclude.gather(tmp_path, ["node", "nodes"], "slurm", said).lost["nodes"]


@pytest.mark.parametrize(
    ("extra", "constraint", "nodes"),
    [
        ("'--exclusive'", "", ["n1", "n2", "n3"]),
        ("'--exclusive'", "'icelake'", ["n1", "n3"]),
        ("'--exclusive'", "'icelake&ib'", []),
        ("'--nodelist=n1,n2'", "", []),
        (rotation.expression("--exclusive", ["n1", "n2"]), "", []),
    ],
)
def test_nodes_to_rotate_over_are_those_that_the_job_could_have(
    monkeypatch: pytest.MonkeyPatch, extra: str, constraint: str, nodes: list[str]
) -> None:
    answer = "n1 main idle icelake,ib\nn2 main mixed (null)\nn3 main idle~ icelake\nn4 main drained ib\nn5 b idle ib\n"
    monkeypatch.setattr(partition, "ask", lambda *_: answer)
    # Snakemake has an empty entry for a resource that the profile does not set.
    resources = {"slurm_extra": SimpleNamespace(raw=extra), "constraint": SimpleNamespace(raw=constraint or None)}
    settings = SimpleNamespace(overwrite_resources={"launch": resources})
    workflow = SimpleNamespace(resource_settings=settings)
    assert conclude.nodes_up(workflow, healthy()) == nodes
    assert conclude.nodes_up(workflow, laptop()) == []


def test_a_job_that_the_output_does_not_mention_was_cut_off() -> None:
    assert conclude.last_words(REFUSED.split("[Sat")[0], "nodes") == "this run ended before the job did"


def test_the_doctors_jobs_of_this_folder_are_found_in_the_queue() -> None:
    lines = [
        "1|PENDING|PartitionNodeLimit|rule_examine_wildcards_nodes|/home/me/crossover",
        "2|RUNNING|None|rule_examine_wildcards_node|/home/me/crossover",
        "3|PENDING|Resources|rule_examine_wildcards_node|/home/me/other",
        "4|PENDING|Resources|rule_launch_wildcards_toy_node_1|/home/me/crossover",
        "5|PENDING|Priority|(null)|/home/me/crossover",
        "slurm_load_jobs error",
    ]
    found = queue.jobs("\n".join(lines), Path("/home/me/crossover"))
    assert found == {
        "nodes": queue.Queued("1", True, "PartitionNodeLimit"),
        "node": queue.Queued("2", False, "None"),
    }


def test_only_a_job_that_would_wait_for_ever_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    here = str(Path.cwd())
    answers = [
        f"1|PENDING|PartitionNodeLimit|rule_examine_wildcards_nodes|{here}\n"
        f"2|PENDING|Resources|rule_examine_wildcards_node|{here}",
        f"2|RUNNING|None|rule_examine_wildcards_node|{here}",
    ]
    commands: list[list[str]] = []
    monkeypatch.setattr(queue, "_ask", lambda: answers.pop(0))
    monkeypatch.setattr(queue.subprocess, "run", lambda command, **_: commands.append(command))
    monkeypatch.setattr(queue, "POLL_SECONDS", 0)
    assert list(queue.watch()) == ["nodes"]
    assert commands == [["scancel", "1"]]
    assert answers == []


def test_output_of_ranks_and_of_launchers_is_separated() -> None:
    lines = [
        "srun: some warning",
        MARK + json.dumps({"size": 1, "hosts": ["node1"]}),
        "and " + MARK + json.dumps({"size": 1, "hosts": ["node2"], "pair": {"clocks": {}}}),
    ]
    attempt, pair = job.understood("srun", 0, lines)
    assert attempt["worlds"] == [{"size": 1, "hosts": ["node1"]}, {"size": 1, "hosts": ["node2"]}]
    assert attempt["said"] == "srun: some warning"
    assert pair == {"clocks": {}}


def test_a_launcher_that_hangs_has_started_nothing() -> None:
    attempt, pair = job.understood("srun", None, [MARK + json.dumps({"size": 2, "hosts": ["a", "b"]})])
    assert (attempt["worlds"], pair) == ([], {})
    assert "not finished" in attempt["said"]


def test_a_launcher_that_is_not_there_is_no_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "_worth_trying", lambda mpi: [mpi])
    said: list[str] = []
    found, pair = job.attempts("no-such-launcher --fast", "node", "auto", tmp_path, said.append)
    assert pair == {}
    assert "no-such-launcher" in str(found[0]["said"])
    assert "Traceback" not in "\n".join(said)


def test_the_table_contains_findings_and_settings() -> None:
    findings = {
        "launcher": Finding(Verdict.PROBLEM, "ranks came up alone", "mpi", value="srun --mpi=pmi2"),
        "quarto": Finding(Verdict.OK, "found"),
    }
    said = conclude.table(findings, "slurm", 100)
    assert "in profiles/slurm/site.yaml set `mpi: srun --mpi=pmi2`" in said
    assert "1 ok, 1 problem" in said
    assert max(map(len, said.splitlines())) <= 100


@pytest.mark.parametrize("documented", [conclude, job, ports])
def test_the_examples_in_the_docstrings_hold(documented: ModuleType) -> None:
    tried = doctest.testmod(documented)
    assert tried.attempted
    assert not tried.failed


ALL_CHECKS = "[checks.module(name) for name in (*checks.CHECKS, *checks.WHERE_SNAKEMAKE_RUNS)]"


@pytest.mark.parametrize(
    ("modules", "unwanted"),
    [("attempt, checks, conclude", ["mpi4py.MPI", "pyarrow"]), ("checks, job", ["mpi4py.MPI"])],
    ids=["Snakemake", "the supervisor of a job"],
)
def test_heavy_modules_are_not_loaded(modules: str, unwanted: list[str]) -> None:
    code = f"import sys; from crossover.doctor import {modules}; {ALL_CHECKS}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "crossover.doctor.checks.ports" in loaded
    assert loaded.isdisjoint(unwanted)
