"""Is the end of a job read from Slurm's answers, whichever of its commands knows it?"""

import doctest

import pytest

from crossover.slurm import jobs
from crossover.slurm.jobs import Fate

ENDED = "JobId=3 JobState=CANCELLED Reason=None RunTime=00:00:05 NodeList=node3 BatchHost=node3 NumNodes=1 NumCPUs=64"
WAITING = "JobId=4 JobState=CANCELLED Reason=BeginTime RunTime=00:00:00 NodeList= NumNodes=1-2 NumCPUs=1"


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Gives the commands of Slurm their answers."""

    def answering(**answers):
        for command, answer in answers.items():
            program = tmp_path / command
            program.write_text(f"#!/bin/sh\necho '{answer}'\n")
            program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))

    return answering


def test_the_examples_in_the_docstrings_hold():
    tried = doctest.testmod(jobs)
    assert tried.attempted and not tried.failed


def test_the_controller_is_asked_first_and_the_accounts_if_it_has_forgotten_the_job(slurm):
    slurm(scontrol=ENDED, sacct="FAILED|node9|1|1")
    assert jobs.fate_of("3") == Fate("CANCELLED", "node3", 5)
    slurm(scontrol="slurm_load_jobs error: Invalid job id specified", sacct="NODE_FAIL|node[1-2]|31|2")
    assert jobs.fate_of("3") == Fate("NODE_FAIL", "node[1-2]", 62)


def test_without_an_answer_nothing_is_known(slurm):
    slurm()
    assert jobs.fate_of("3") == Fate()
    assert not Fate().from_outside and str(Fate()) == ""


def test_a_job_that_never_ran_has_no_node():
    found = jobs.of_controller(WAITING)
    assert (str(found), found.node_seconds, found.from_outside) == ("CANCELLED", 0, True)
