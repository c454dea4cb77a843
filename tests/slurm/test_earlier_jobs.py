"""Are the jobs of an earlier run found and cancelled, and no others?"""

import pytest

from crossover.errors import CrossoverError
from crossover.slurm import jobs


@pytest.fixture
def slurm(stand_in, tmp_path):
    """A Slurm with these jobs, whose `scancel` removes those that it is given."""
    queue = tmp_path / "queue"

    def prepare(*rows, scancel=f'for job; do sed -i "/^$job|/d" {queue}; done'):
        queue.write_text("".join(f"{row}\n" for row in rows))
        stand_in("squeue", f"cat {queue}")
        stand_in("scancel", scancel)
        return queue

    return prepare


def test_without_earlier_jobs_nothing_is_told(slurm, tmp_path):
    slurm("1|RUNNING|another-workflow")
    assert jobs.cancel_earlier(tmp_path / "results") == ""


def test_the_jobs_of_this_folder_are_cancelled_and_no_others(slurm, tmp_path):
    own, other = (jobs.name_start(tmp_path / folder) for folder in ("results", "elsewhere"))
    queue = slurm(
        f"1|RUNNING|{own}_a",
        f"2|PENDING|{own}_a",
        f"3|RUNNING|{other}_b",
        "4|RUNNING|with spaces",
        "5|RUNNING|",
        "Welcome",
    )
    assert jobs.cancel_earlier(tmp_path / "results") == (
        f"cancelled 2 jobs that an earlier run in {tmp_path}/results had left in Slurm (1 running, 1 waiting); the "
        "launches that they finished are kept"
    )
    assert queue.read_text().splitlines() == [f"3|RUNNING|{other}_b", "4|RUNNING|with spaces", "5|RUNNING|", "Welcome"]


def test_a_job_that_does_not_end_stops_the_run(slurm, tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "END_SECONDS", 0)
    slurm(f"1|RUNNING|{jobs.name_start(tmp_path)}", scancel="true")
    with pytest.raises(CrossoverError, match=r"jobs 1 of an earlier run in .* do not end"):
        jobs.cancel_earlier(tmp_path)


def test_a_slurm_that_does_not_answer_stops_the_run(stand_in, tmp_path):
    stand_in("squeue", "echo Unable to contact slurm controller >&2; exit 1")
    with pytest.raises(CrossoverError, match=r"Unable to contact slurm controller.*repeat the command"):
        jobs.cancel_earlier(tmp_path)
