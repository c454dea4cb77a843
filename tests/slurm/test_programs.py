"""The programs in place of Slurm's on Snakemake's PATH: which jobs end, which wait, which are submitted again."""

import os
import subprocess
from pathlib import Path

import pytest

from crossover.slurm.submission import BIN

ENDED = (
    *("BOOT_FAIL", "CANCELLED", "CANCELLED by 0", "CANCELLED+", "DEADLINE", "FAILED", "LAUNCH_FAILED", "NODE_FAIL"),
    *("OUT_OF_MEMORY", "PREEMPTED", "RECONFIG_FAIL", "REVOKED", "SPECIAL_EXIT", "TIMEOUT"),
)
"""States in which a job has ended without success, in every spelling: the launch is tried again, or becomes a hole."""

GOING_ON = (
    *("COMPLETING", "CONFIGURING", "EXPEDITING", "PENDING", "POWER_UP_NODE", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD"),
    *("RESIZING", "RESV_DEL_HOLD", "RUNNING", "SIGNALING", "STAGE_OUT", "STOPPED", "SUSPENDED", "UPDATE_DB"),
)
"""States in which a job waits or runs: so does the run, which says why."""

QUERIES = {
    "sacct": ("-X", "--parsable2", "--format=JobIdRaw,State", "--name", "run"),
    "squeue": ("--format=%i|%T", "--states=all", "--noheader", "--name", "run"),
}
"""How Slurm's plugin asks for the states of jobs."""

SILENT = "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1"
WITHOUT_ACCOUNTS = "echo 'Slurm accounting storage is disabled' >&2; exit 1"


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Makes a program of Slurm from a script of the shell; the environment is that of a run."""
    folder = tmp_path / "slurm"
    folder.mkdir()

    def program(name, script):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)

    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CROSSOVER_REFUSALS", str(tmp_path / "refusals"))
    monkeypatch.setenv("CROSSOVER_JOBS", str(tmp_path / "jobs"))
    monkeypatch.setenv("CROSSOVER_REFUSAL_SECONDS", "0")
    return program


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=20)


def states(program):
    """The states that the plugin gets, by the number of the job."""
    return dict(line.split("|") for line in said(program, *QUERIES[program]).stdout.splitlines())


@pytest.mark.parametrize("program", QUERIES)
def test_every_final_state_ends_the_wait_and_no_other(slurm, tmp_path, program):
    every = {str(number): state for number, state in enumerate(["COMPLETED", *ENDED, *GOING_ON], 10)}
    slurm("squeue", "\n".join(f"echo '{number}|{state}'" for number, state in {"9": "RUNNING", **every}.items()))
    (tmp_path / "jobs").write_text("".join(f"{number}\n" for number in every))
    expected = {number: "FAILED" if state in ENDED else state for number, state in every.items()}
    assert states(program) == states(program) == expected


@pytest.mark.parametrize("state", ["COMPLETED", *ENDED])
def test_the_accounts_are_asked_for_a_job_that_the_controller_has_forgotten(slurm, tmp_path, state):
    (tmp_path / "jobs").write_text("7\n")
    slurm("squeue", "echo '17|RUNNING'")
    slurm("sacct", f"[ $1 = --jobs=7 ] && echo '{state}'")
    assert states("squeue") == {"7": "FAILED" if state in ENDED else state}


@pytest.mark.parametrize("program", QUERIES)
def test_other_questions_and_failures_pass(slurm, program):
    slurm(program, 'echo "7|NODE_FAIL" "$@"')
    assert said(program, "--me", "--format=%T").stdout == "7|NODE_FAIL --me --format=%T\n"
    slurm("squeue", "exit 3")
    assert said(program, *QUERIES[program]).returncode == 3


@pytest.mark.parametrize("accounts", [WITHOUT_ACCOUNTS, "echo RUNNING"])
def test_a_job_that_slurm_has_forgotten_ends_at_the_second_look(slurm, tmp_path, accounts):
    (tmp_path / "jobs").write_text("7\n8\n")
    slurm("squeue", "echo '8|COMPLETED'")
    slurm("sacct", accounts)
    assert states("squeue") == {"8": "COMPLETED"}
    assert states("squeue") == states("squeue") == {"7": "FAILED", "8": "COMPLETED"}


def test_a_silent_controller_forgets_no_job(slurm, tmp_path):
    (tmp_path / "jobs").write_text("7\n")
    slurm("sacct", WITHOUT_ACCOUNTS)
    slurm("squeue", SILENT)
    assert [states("sacct") for _ in range(3)] == [{}] * 3


PASSING = (
    "Batch job submission failed: Socket timed out on send/recv operation",
    "Unable to contact slurm controller (connect failure)",
    "Batch job submission failed: Resource temporarily unavailable",
    "Batch job submission failed: Transport endpoint is not connected",
    "Batch job submission failed: Zero Bytes were transmitted or received",
    "Batch job submission failed: Slurm backup controller in standby mode",
    "Slurm temporarily unable to accept job, sleeping and retrying",
    "Batch job submission failed: Rate limit exceeded, please retry momentarily",
    "Batch job submission failed: MaxJobCount limit reached",
    "QOSMaxSubmitJobPerUserLimit",
)
OWN = ("sbatch", "--parsable", "--job-name", "run", "--comment", "rule_launches-1")


@pytest.mark.parametrize("words", PASSING)
def test_a_busy_controller_is_outwaited(slurm, tmp_path, words):
    once = tmp_path / "once"
    slurm("sbatch", f'[ -f {once} ] && echo "17;here" && exit\ntouch {once}\necho "sbatch: error: {words}" >&2\nexit 1')
    done = said(*OWN)
    assert (done.returncode, done.stdout, done.stderr) == (0, "17;here\n", "")
    assert (tmp_path / "refusals").read_text(encoding="utf-8") == f"waits\t{words}\n"
    assert (tmp_path / "jobs").read_text(encoding="utf-8") == "17\n"


def test_copies_of_a_job_share_a_name_under_which_slurm_runs_one_at_a_time(slurm, tmp_path):
    slurm("sbatch", f'echo "$@" >>{tmp_path}/asked\necho 17')
    said(*OWN)
    said(*OWN[:-1], "rule_launches-10")
    first, second = (tmp_path / "asked").read_text(encoding="utf-8").splitlines()
    assert first == f"--dependency=singleton {' '.join(OWN[1:])} --job-name=run-rule_launches-1"
    assert second.endswith(" --job-name=run-rule_launches-10")


def test_a_refusal_for_good_keeps_slurms_words(slurm, tmp_path):
    slurm("sbatch", 'echo "sbatch: error: Invalid qos specification" >&2\nexit 1')
    done = said(*OWN)
    assert (done.returncode, done.stderr) == (1, "sbatch: error: Invalid qos specification\n")
    assert (tmp_path / "refusals").read_text(encoding="utf-8") == "refused\tInvalid qos specification\n"
    assert not (tmp_path / "jobs").exists() and not list(Path(tmp_path).glob("tmp*"))


@pytest.mark.parametrize("program", ["sinfo", "sacctmgr", "sshare"])
def test_what_the_plugin_asks_at_a_submission_never_fails(slurm, program):
    slurm(program, "echo 'Access/permission denied' >&2; exit 1")
    done = said(program, "-n")
    assert (done.returncode, done.stdout) == (0, "")
    slurm(program, 'echo "$@"')
    assert said(program, "-n", "a b").stdout == "-n a b\n"
