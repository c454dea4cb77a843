"""Does each finding follow from the facts, and name the right key? Are the reasons for lost jobs found?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scenes import ETH, FOLDERS, HEALTHY, IB, LAPTOP, PAIR, attempt, job, write

from crossover.doctor import conclude
from crossover.doctor.conclude import CHECKS, OK, PROBLEM, UNKNOWN, WARNING, Finding, Seen, Verdict


def pair(**changed: Any) -> Seen:
    """A healthy cluster, except for these facts of the two ranks on two hosts."""
    return replace(HEALTHY, nodes=job("n1 n2", pair=replace(PAIR, **changed)))


def folder(path: str, free: int = 9 << 30, error: str = "") -> Seen:
    """One where a folder of the second host has changed."""
    return pair(folders=(*FOLDERS, *((path, free, error) if path == own[0] else own for own in FOLDERS)))


def bound(mpi: str, *processors: int) -> Seen:
    return tried(attempt(mpi, "n1 n2", pair=replace(PAIR, processors=processors)))


def lost(words: str) -> Seen:
    return Seen("slurm", lost={"node": words, "nodes": words})


def tried(*attempts: Any) -> Seen:
    """One where these launchers were tried on two hosts."""
    return replace(HEALTHY, nodes=job("n1 n2", *attempts, placement="nodes"))


CLOSED = (*ETH[:2], "timed out")
WRONG = [
    attempt("srun --mpi=none", "n1", "n1"),
    attempt("srun --mpi=pmix", said="PMIx_Init failed"),
    attempt("srun", "n1 n1"),
]
ALONE = replace(HEALTHY, node=job("n1 n1", *WRONG))
ONE_NODE = replace(HEALTHY, nodes=None, lost={"nodes": "because of Slurm's PartitionNodeLimit"})

EXAMPLES: list[tuple[str, Seen, Verdict, str, str]] = [
    # title, facts, verdict, key and its value, words
    ("executor", lost("Invalid partition name specified"), PROBLEM, "partition", "Invalid partition name specified"),
    ("executor", lost("Invalid qos specification"), PROBLEM, "qos", ""),
    ("executor", lost("Invalid feature specification"), PROBLEM, "constraint", ""),
    ("executor", lost("Requested node configuration is not available"), PROBLEM, "partition", ""),
    ("executor", lost("Slurm's QOSMaxWallDurationPerJobLimit"), PROBLEM, "partition", ""),
    ("executor", lost("something new"), PROBLEM, "", "something new"),
    ("executor", replace(HEALTHY, node=None, lost={"node": "no"}), PROBLEM, "", "the job for one host did not run: no"),
    ("executor", replace(HEALTHY, node=job("n1 n1", queued_seconds=600.0)), OK, "", "ran after 600 s"),
    ("launcher", ALONE, PROBLEM, "mpi: srun", "srun --mpi=none started 2 ranks that came up alone"),
    ("launcher", replace(HEALTHY, node=job("n1 n1", *WRONG[:2])), PROBLEM, "mpi", "PMIx_Init failed"),
    ("launcher", replace(HEALTHY, node=None), OK, "", ""),
    ("two hosts", ALONE, UNKNOWN, "", "see the finding `launcher`"),
    ("two hosts", ONE_NODE, PROBLEM, "partition", "PartitionNodeLimit"),
    ("two hosts", replace(HEALTHY, nodes=None), UNKNOWN, "", "one node at a time"),
    ("two hosts", replace(HEALTHY, nodes=None, too_few_nodes="no; wait"), PROBLEM, "", "hosts: no; wait"),
    ("two hosts", replace(HEALTHY, wider="pairs need 4"), OK, "", "on n1 and n2 (MPICH 5.0.2); pairs need 4"),
    ("two hosts", tried(attempt("mpiexec", "n1 n1"), attempt("srun", "n1 n2")), PROBLEM, "mpi: srun", "on n1, though"),
    ("two hosts", tried(attempt("mpiexec", "n1 n1")), PROBLEM, "mpi", "ask the site"),
    ("processors", bound("srun --x", 2, 16), PROBLEM, "mpi: srun --x --cpu-bind=none", "may use 2 of its host's 16"),
    ("processors", bound("/opt/mpiexec", 2, 16), PROBLEM, "mpi: /opt/mpiexec --bind-to none", ""),
    ("processors", bound("srun", 8, 8), OK, "", "8 of its host's 8"),
    ("ports", pair(interfaces=(CLOSED, IB)), PROBLEM, "interface: ib0", "(eth0): timed out"),
    ("ports", pair(interfaces=(CLOSED,)), PROBLEM, "interface", "firewall"),
    ("ports", pair(no_interface="no ib9", interfaces=(IB,)), PROBLEM, "interface: ib0", "no ib9"),
    ("temporary folder", pair(temporary_shared=True), WARNING, "", "both hosts see the same files"),
    ("temporary folder", folder("/tmp", 1 << 20), WARNING, "", "TMPDIR"),
    ("temporary folder", folder("/dev/shm", 200 << 20), WARNING, "", "too little free space; ask"),
    ("temporary folder", folder("/tmp", error="Read-only"), PROBLEM, "", "/tmp cannot be written to: Read-only"),
    ("temporary folder", folder("/dev/shm", error="No such"), PROBLEM, "", "cannot be written to: No such; ask"),
    ("shared folder", pair(seen_seconds=None), PROBLEM, "", "not seen by the other host"),
    ("shared folder", pair(unwritten="disk full", seen_seconds=None), PROBLEM, "", "disk full"),
]  # fmt: skip


@pytest.mark.parametrize(("title", "seen", "verdict", "key", "words"), EXAMPLES)
def test_the_finding_and_its_key_follow_from_the_facts(
    title: str, seen: Seen, verdict: Verdict, key: str, words: str
) -> None:
    found = CHECKS[title](seen)
    assert (found.verdict, ": ".join(filter(None, [found.key, found.value]))) == (verdict, key)
    assert words in f"{found.seen}; {found.step}"
    told = " ".join(conclude.table({title: found}, "slurm", 100).split())
    assert (f"-> in profiles/slurm/site.yaml set `{key}`" in told) is bool(key)
    if verdict in (WARNING, PROBLEM):
        assert found.key or found.step or "new" in words or words.endswith("no"), "a failure needs a next step"
        assert found.step in told
    else:
        assert "->" not in told


@pytest.mark.parametrize("title", CHECKS)
def test_what_works_is_fine_and_what_cannot_be_checked_is_unknown(title: str) -> None:
    assert CHECKS[title](HEALTHY).verdict is OK
    assert CHECKS[title](LAPTOP).verdict is (UNKNOWN if title == "two hosts" else OK)
    if title in ("ports", "temporary folder", "shared folder"):
        assert "needs a second host" in CHECKS[title](LAPTOP).seen
    if title != "executor":
        found = CHECKS[title](lost("invalid partition"))
        assert (found.verdict, found.key) == (UNKNOWN, "")
    if title != "two hosts":
        assert CHECKS[title](ONE_NODE).verdict is OK, "a job for two hosts that does not run hides no other finding"


def test_the_table_is_as_wide_as_the_terminal_and_counts_the_verdicts() -> None:
    findings = {"launcher": CHECKS["launcher"](ALONE), "ports": Finding(OK, "open")}
    told = conclude.table(findings, "slurm", 70)
    assert "1 ok, 1 problem; follow the advice above" in told
    assert max(map(len, told.splitlines())) <= 70
    assert "launches can run here" in conclude.table({"ports": findings["ports"]}, "local", 70)


@pytest.mark.parametrize(("seen", "code"), [(HEALTHY, 0), (pair(temporary_shared=True), 0), (ALONE, 1)])
def test_only_a_problem_fails_the_run(tmp_path: Path, seen: Seen, code: int) -> None:
    (tmp_path / "doctor").mkdir()
    for found in (seen.node, seen.nodes):
        assert found is not None
        write(found, tmp_path / "doctor")
    assert conclude.conclude("slurm", tmp_path, ["node", "nodes"], [], "") == code
    assert (tmp_path / "doctor.txt").exists()


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

    def reasons(text: str) -> Any:
        return conclude.gather(tmp_path, "slurm", ["node", "nodes"], text).lost

    lost_jobs = reasons(REFUSED.format(log=log))
    assert (
        lost_jobs["node"]
        == "invalid partition specified: nope; Batch job submission failed: Invalid partition name specified"
    )
    for words in ("'FAILED'", "python: No such file or directory", str(log), "into a folder that all nodes share"):
        assert words in lost_jobs["nodes"]
    assert reasons(REFUSED.split("[Sat")[0])["nodes"] == "this run ended before the job did"
    write(job("n1 n1"), tmp_path)
    lost_jobs = reasons(REFUSED)
    assert lost_jobs.keys() == {"nodes"}
    assert "share" not in lost_jobs["nodes"], "the other job could start Python"


def test_the_facts_of_a_job_that_this_run_did_not_have_are_not_its_own(tmp_path: Path) -> None:
    write(job("n1 n1"), tmp_path)
    write(job("n1 n2"), tmp_path)
    assert conclude.gather(tmp_path, "slurm", ["node", "nodes"], "").nodes == job("n1 n2")
    assert conclude.gather(tmp_path, "slurm", ["node"], "").nodes is None
