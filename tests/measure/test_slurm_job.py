"""Is Slurm's information about a launch's job read correctly?"""

from datetime import datetime

import pytest

from crossover.measure.machine import slurm_job

JOB = "JobId=7 JobName=x SubmitTime=2026-11-21T18:00:00 EligibleTime=2026-11-21T18:00:00 StartTime=2026-11-21T18:01:30"


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """A Slurm job whose scontrol is this script."""

    def answer(script):
        (tmp_path / "scontrol").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "scontrol").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        monkeypatch.setenv("SLURM_JOB_ID", "7")

    return answer


def test_the_time_in_the_queue_and_the_start_of_the_job_are_separate(slurm):
    slurm(f'test "$*" = "--oneliner show job 7" && echo "{JOB}"')
    began = datetime.fromisoformat("2026-11-21T18:01:36").timestamp()
    assert slurm_job.delays(began) == {"queued_seconds": 90.0, "entering_seconds": 6.0}


@pytest.mark.parametrize("script", ["exit 1", "echo JobId=7 StartTime=Unknown", f"echo {JOB.replace('2026', 'x')}"])
def test_without_an_answer_nothing_is_recorded(slurm, script):
    slurm(script)
    assert slurm_job.delays(0.0) == {}


def test_outside_of_slurm_nobody_is_asked(monkeypatch):
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    assert slurm_job.delays(0.0) == {}
