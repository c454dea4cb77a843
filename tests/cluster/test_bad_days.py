"""A cluster that says no: refused, waiting and cancelled jobs are named in Slurm's words, and nothing is lost."""

from __future__ import annotations

import re
import signal
import time
from contextlib import suppress

import pytest
from clusters import PROMPT, OnCluster
from copies import SMALL_MPI
from machines import eventually
from test_faults import LONG, hasty, measures, raw_files

TRIED = 'case "$*" in *--test-only*) exec /usr/bin/sbatch "$@" ;; esac\n'
"""The start of a script in place of sbatch: it answers as usual whether it would accept a job."""

SIGNAL_SECONDS = 15


PAUSE = """\
if mkdir {folder}/paused 2>/dev/null; then
  kill -STOP $(cat {pid})
  { sleep 6; kill -CONT $(cat {pid}); } </dev/null >/dev/null 2>&1 &
fi
exec /usr/bin/sbatch "$@"
"""
"""In place of sbatch: the controller pauses at the first job, and reads the request after sbatch has given up."""


def test_the_words_of_a_refusal_reach_the_user_for_each_launch_of_a_batch(project: OnCluster) -> None:
    project.configure(toy={"launches": 3})
    refused = "echo 'sbatch: error: Invalid generic resource (gres) specification' >&2; exit 1"
    code, said = project.run(*project.in_place_of("sbatch", TRIED + refused), *PROMPT, "toy")
    assert code == 1
    assert "Slurm refused its job: Invalid generic resource (gres) specification" in said
    assert "attempt 1 of 3, repeated by itself" in said
    assert "attempt 3 of 3; to retry, repeat the command" in said
    assert "placement node, launch 1, 2, 3 (no raw file): Slurm refused its job: Invalid generic resource" in said
    assert "no reason" not in said and "Traceback" not in said


def test_a_partition_that_is_down_is_named_before_and_during_a_run_and_sigterm_ends_it(
    project: OnCluster, request: pytest.FixtureRequest
) -> None:
    change = ("scontrol", "update", "PartitionName=main")
    request.addfinalizer(lambda: project.slurm.login.run(*change, "State=UP"))
    project.configure(toy=LONG | {"launches": 5})
    project.site("batch_launches: 1\nnodes: 2")
    run = project.begin(*PROMPT, "toy")
    run.wait_until(lambda: "measured in" in run.said or measures(project, 1))
    project.slurm.login.run(*change, "State=DOWN")
    run.wait_until(lambda: "(PartitionDown)" in run.said)
    assert "set `partition:` in profiles/slurm/site.yaml" in run.said
    kept = raw_files(project)
    began = time.monotonic()
    for each in project.slurm.login.processes():
        if "--profile" in each.info["cmdline"]:
            each.terminate()
    code, said = run.end()
    assert time.monotonic() - began < SIGNAL_SECONDS, said
    assert code == 1
    assert "SIGTERM: the jobs are cancelled; finished launches are kept, and the same command resumes" in said
    assert "Traceback" not in said
    assert kept <= raw_files(project)
    assert eventually(lambda: project.slurm.jobs() == [], 20)
    code, said = project.run(*PROMPT, "toy")
    assert code == 1
    assert "Slurm's partition by default is down, so no job would start; nothing was submitted" in said


@pytest.fixture
def drained(project: OnCluster):
    """Drains two of the three nodes; returns what brings them back."""
    names = "NodeName=node2,node3"

    def resume() -> None:
        # Slurm refuses it for nodes that are back already.
        with suppress(RuntimeError):
            project.slurm.login.run("scontrol", "update", names, "State=RESUME")

    project.slurm.login.run("scontrol", "update", names, "State=DRAIN", "Reason=test")
    yield resume
    resume()


ACROSS = {"launches": 1, "placements": ["nodes"], "budget_seconds": 1}


def test_launches_that_need_drained_nodes_are_left_out_with_the_key(project: OnCluster, drained) -> None:
    project.configure(toy=ACROSS | {"placements": ["node", "nodes"]})
    said = project.succeed(*PROMPT, "toy")
    left_out = r"not measured: toy \(placement nodes\) needs 2 nodes; this cluster gives 1"
    assert re.search(rf"{left_out}; Slurm refuses .*set `wait_for_nodes: true`", said)
    assert set(project.receipts()) == {"toy/node/1"}


def test_a_run_waits_for_drained_nodes_if_the_site_says_so(project: OnCluster, drained) -> None:
    project.configure(toy=ACROSS)
    project.site("wait_for_nodes: true")
    run = project.begin(*PROMPT, "toy")
    run.wait_until(lambda: "waiting in Slurm: 1 job" in run.said)
    drained()
    code, said = run.end()
    assert code == 0, said
    assert set(project.receipts()) == {"toy/nodes/1"}


def test_variables_that_change_jobs_are_refused_and_those_that_change_answers_forgotten(project: OnCluster) -> None:
    code, said = project.run("env", "SBATCH_ARRAY_INX=1-2", *PROMPT, "toy")
    assert code == 1
    assert "SBATCH_ARRAY_INX would change the jobs of a run, or the ranks in them; unset SBATCH_ARRAY_INX" in said
    strange = ("SQUEUE_STATES=all", "SQUEUE_FORMAT=%j", "SINFO_FORMAT=%N", "SACCT_FORMAT=User")
    project.configure(toy={"launches": 1})
    project.succeed("env", *strange, *PROMPT, "toy")
    assert len(raw_files(project)) == 1


def test_a_node_that_dies_between_launches_of_a_batch_is_named_and_the_rest_of_it_measured(project: OnCluster) -> None:
    across = {"placements": ["nodes"], "launches": 1}
    project.configure(toy=ACROSS, mpi_pingpong=SMALL_MPI | across)
    run = project.begin(*PROMPT, "toy", "mpi_pingpong")
    run.wait_until(lambda: raw_files(project) != set())
    first = raw_files(project)
    host, nodes = project.slurm.login.run("squeue", "--noheader", "--format=%B %N").split()
    lost = next(node for node in project.slurm.nodes if node.name != host and node.name[-1] in nodes)
    lost.cut_power()
    code, said = run.end()
    assert code == 0, said
    assert "2 launches in 1 job" in said
    failed = [line for line in said.splitlines() if line.startswith("failed:")]
    assert failed and all(f"node {lost.name}" in line and "repeated by itself" in line for line in failed), said
    assert len(raw_files(project)) == 2 and first < raw_files(project)


def test_a_launch_whose_job_a_busy_controller_accepts_twice_is_measured_once(project: OnCluster) -> None:
    project.configure(toy={"launches": 2})
    project.site("batch_launches: 1")
    pid = project.slurm.folder / "slurmctld.pid"
    pause = TRIED + PAUSE.replace("{folder}", str(project.folder)).replace("{pid}", str(pid))
    around = (*project.in_place_of("sbatch", pause), hasty(project))
    said = project.succeed(*around, *PROMPT, "toy")
    [controller] = [each for each in project.slurm.login.processes() if each.info["name"] == "slurmctld"]
    # nsenter has stopped with its child.
    controller.parent().send_signal(signal.SIGCONT)
    assert "2 of 2 launches measured" in said and "failed: toy" not in said
    assert eventually(lambda: project.slurm.jobs() == [], 60)
    jobs = project.slurm.login.run("scontrol", "--oneliner", "show", "job").splitlines()
    accepted = sum(f" WorkDir={project.folder} " in job for job in jobs)
    logs = [file.read_text(encoding="utf-8") for file in (project.folder / "results/logs/quick/toy").rglob("*.log")]
    assert accepted > 2
    assert sum(log.count("already measured by an earlier job") for log in logs) == accepted - 2


@pytest.mark.parametrize("program", ["sinfo", "sacctmgr", "sshare"])
def test_a_question_of_the_plugin_that_fails_costs_no_attempt(project: OnCluster, program: str) -> None:
    """The question of a run itself must have an answer."""
    project.configure(toy={"launches": 1})
    project.site("account: root")
    own = 'case "$*" in *%l*) echo "main*|up|3|infinite|2"; exit;; esac'
    failing = project.in_place_of(program, f"{own}\necho 'Access/permission denied' >&2\nexit 1")
    said = project.succeed(*failing, *PROMPT, "toy")
    assert "failed: toy" not in said and "Traceback" not in said


def test_a_held_job_has_its_remedy_and_a_pipe_a_line_a_minute(project: OnCluster) -> None:
    project.configure(toy={"launches": 1})
    login = project.slurm.login
    others = ("sbatch", "--parsable", "--exclusive", "--nodes=3", "--output=/dev/null", "--wrap=sleep 300")
    other = login.run(*others).strip()
    run = project.begin(*PROMPT, "toy")
    run.wait_until(lambda: len(project.slurm.jobs()) > 1)
    [held] = {job.split()[0] for job in project.slurm.jobs()} - {other}
    login.run("scontrol", "uhold", held)
    run.wait_until(lambda: "JobHeldUser does not end by itself; let them start: `scontrol release JOB`" in run.said)
    login.run("scancel", other)
    run.wait_until(lambda: "[0 of 1] under way or waiting in its queue: toy node, launch 1" in run.said)
    login.run("scontrol", "release", held)
    code, said = run.end()
    assert code == 0, said
