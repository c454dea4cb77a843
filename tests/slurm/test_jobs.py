"""Does a run say once why its jobs wait? Is the end of a job read, whichever of Slurm's commands knows it?"""

import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from crossover.slurm import jobs, submission
from crossover.slurm.jobs import Fate, Watch


def test_reasons_are_named_when_they_change():
    found = [Counter({"Resources": 2}), Counter({"Resources": 1}), None, Counter(), Counter({"Priority": 1})]
    watch = Watch(lambda: found.pop(0), lambda: [])
    assert watch.news() == ["waiting in Slurm: 2 jobs (Resources)"]
    assert watch.news() == []
    assert watch.news() == [jobs.NO_ANSWER]
    assert watch.news() == []
    assert watch.news() == ["waiting in Slurm: 1 job (Priority)"]


def test_a_reason_that_never_ends_has_a_remedy():
    _, remedy = jobs.waiting_in_words(Counter({"PartitionDown": 3}))
    assert remedy.startswith("PartitionDown does not end by itself") and "set `partition:` in" in remedy


PER_JOB = (
    *("AssocMaxCpuPerJobLimit", "QOSMaxCpuPerJobLimit", "AssocMaxNodePerJobLimit", "QOSMaxMemoryPerJob"),
    *("AssocMaxCpuMinutesPerJobLimit", "QOSMaxCpuPerNode", "QOSMinCpuNotSatisfied", "QOSMinNode"),
)
BUDGETS = ("AssocGrpCPUMinutesLimit", "QOSGrpWallLimit", "QOSGrpGRESMinutes")
GROUPS = ("AssocGrpCpuLimit", "QOSGrpNodeLimit", "AssocGrpCPURunMinutesLimit")
PASSING = ("Resources", "Priority", "QOSMaxCpuPerUserLimit", "QOSMaxJobsPerUserLimit", "AssocMaxJobsLimit")
REQUEUED = ("job requeued in held state", "launch failed requeued held", "JobHoldMaxRequeue")


@pytest.mark.parametrize(
    ("reasons", "words"),
    [
        (PER_JOB, "does not end by itself; press Ctrl-C and set `qos:`, `account:` or `partition:`"),
        (BUDGETS, "ends when the administrators renew the used budget"),
        (GROUPS, "ends when other jobs of the group end"),
        (REQUEUED, "does not end by itself; let them start: `scontrol release JOB`, or cancel them"),
        ([jobs.SUSPENDED], "only Slurm and its operators resume them; wait, or cancel them"),
        (PASSING, None),
    ],
)
def test_slurms_reasons_say_what_ends_the_wait(reasons, words):
    for reason in reasons:
        lines = jobs.waiting_in_words(Counter({reason: 2}))
        assert lines[0] == f"waiting in Slurm: 2 jobs ({reason})"
        assert [line.startswith(f"{reason}: {words}") for line in lines[1:]] == ([True] if words else [])


def test_suspended_jobs_are_counted_with_the_waiting_ones(stand_in):
    rows = ("PENDING|None|run-1", "PENDING|job requeued in held state|run-2", "SUSPENDED|None|run-3")
    rows += ("PENDING|Nodes a|b are DOWN|run-4", "SUSPENDED|None|run-5", "PENDING|Priority|other", "PENDING||run-6")
    stand_in("squeue", "\n".join(f"echo '{row}'" for row in rows))
    expected = {"job requeued in held state": 1, jobs.SUSPENDED: 2, "Nodes a|b are DOWN": 1}
    assert jobs.reasons_to_wait("run-") == expected


def test_a_refusal_that_passes_is_named_once():
    told = [(submission.WAITS, "QOSMaxSubmitJobPerUserLimit"), (submission.REFUSED, "Invalid qos")]
    watch = Watch(Counter, lambda: told)
    [line] = watch.news()
    assert "QOSMaxSubmitJobPerUserLimit" in line
    assert watch.news() == []


@pytest.fixture
def sbatch(stand_in, tmp_path, monkeypatch):
    """Prepares a stand-in for sbatch that refuses jobs with the words in the file `words`, as often as it has lines."""
    words = tmp_path / "words"
    refuse = f'echo "sbatch: error: $(head -1 {words})" >&2\nsed -i 1d {words}\nexit 3'
    stand_in("sbatch", f'[ -s {words} ] || {{ echo "7;x"; exit 0; }}\n{refuse}')
    monkeypatch.setenv("CROSSOVER_REFUSAL_SECONDS", "0.1")
    monkeypatch.setenv(submission.REFUSALS, "")
    submission.stand_in("crossover-")
    return words


def test_refusals_are_kept_whether_they_pass_or_not(sbatch):
    sbatch.write_text("Invalid qos specification\nQOSMaxSubmitJobPerUserLimit\nAssocMaxSubmitJobLimit\n")
    refused, accepted = (subprocess.run(["sbatch", "a b"], capture_output=True, text=True) for _ in range(2))
    assert (refused.returncode, accepted.returncode, accepted.stdout) == (1, 0, "7\n")
    assert submission.refusals() == [
        ("refused", "Invalid qos specification"),
        ("waits", "QOSMaxSubmitJobPerUserLimit"),
        ("waits", "AssocMaxSubmitJobLimit"),
    ]
    assert submission.last_refusal() == "Invalid qos specification"


ENDED = "JobId=3 JobState=CANCELLED Reason=None RunTime=00:00:05 NodeList=node3 BatchHost=node3 NumNodes=1 NumCPUs=64"
WAITING = "JobId=4 JobState=CANCELLED Reason=BeginTime RunTime=00:00:00 NodeList= NumNodes=1-2 NumCPUs=1"


def test_the_controller_is_asked_first_and_the_accounts_if_it_has_forgotten_the_job(stand_in):
    stand_in("scontrol", f"echo '{ENDED}'")
    stand_in("sacct", "echo 'NODE_FAIL|node[1-2]'")
    assert jobs.fate_of("3") == Fate("CANCELLED", "node3")
    stand_in("scontrol", "echo 'slurm_load_jobs error: Invalid job id specified'")
    assert jobs.fate_of("3") == Fate("NODE_FAIL", "node[1-2]")


def test_without_an_answer_nothing_is_known(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert jobs.fate_of("3") == Fate()
    assert not Fate().from_outside and str(Fate()) == ""


@pytest.mark.parametrize("silent", ["exec sleep 60", "echo 'Unable to contact slurm controller' >&2; exit 1"])
def test_a_controller_without_an_answer_leaves_only_words_unknown(stand_in, capsys, silent):
    stand_in("scontrol", silent)
    stand_in("squeue", silent)
    assert jobs.fate_of("3") == Fate()
    assert capsys.readouterr().err == "waiting for Slurm (scontrol) ...\n"
    assert jobs.reasons_to_wait("run-") is None
    assert capsys.readouterr().err == "", "the watch has its own line"


def test_a_job_that_never_ran_has_no_node():
    found = jobs.of_controller(WAITING)
    assert (str(found), found.from_outside) == ("CANCELLED", True)


def test_a_fork_leaves_the_folder_of_its_parent(sbatch):
    folder = Path(os.environ[submission.REFUSALS]).parent
    if (child := os.fork()) == 0:
        submission._remove(str(folder), os.getppid())
        os._exit(0)
    os.waitpid(child, 0)
    assert folder.is_dir()
