"""Does a run say once why its jobs wait, and again when that changes?"""

import doctest
import subprocess
from collections import Counter

import pytest

from crossover.slurm import jobs, submission
from crossover.slurm.jobs import Watch


def test_the_examples_in_the_docstrings_hold():
    tried = doctest.testmod(jobs)
    assert tried.attempted and not tried.failed


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


def test_a_refusal_that_passes_is_named_once():
    told = [(submission.WAITS, "QOSMaxSubmitJobPerUserLimit"), (submission.REFUSED, "Invalid qos")]
    watch = Watch(Counter, lambda: told)
    [line] = watch.news()
    assert "QOSMaxSubmitJobPerUserLimit" in line
    assert watch.news() == []


@pytest.fixture
def sbatch(tmp_path, monkeypatch):
    """Prepares a stand-in for sbatch that refuses jobs with the words in the file `words`, as often as it has lines."""
    stand_in = tmp_path / "bin" / "sbatch"
    stand_in.parent.mkdir()
    words = tmp_path / "words"
    stand_in.write_text(
        f'#!/bin/sh\n[ -s {words} ] || {{ echo "7;x"; exit 0; }}\n'
        f'echo "sbatch: error: $(head -1 {words})" >&2\nsed -i 1d {words}\nexit 3\n'
    )
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stand_in.parent}:/usr/bin:/bin")
    monkeypatch.setenv("CROSSOVER_REFUSAL_SECONDS", "0.1")
    monkeypatch.setenv(submission.REFUSALS, "")
    submission.keep_refusals(tmp_path / "logs" / "refusals.txt")
    return words


def submit():
    return subprocess.run(["sbatch", "--parsable", "a b"], capture_output=True, text=True)


def test_a_job_is_submitted_again_while_the_refusal_can_pass(sbatch):
    sbatch.write_text("QOSMaxSubmitJobPerUserLimit\nAssocMaxSubmitJobLimit\n")
    done = submit()
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "7;x", "")
    assert submission.refusals() == [
        ("waits", "QOSMaxSubmitJobPerUserLimit"),
        ("waits", "AssocMaxSubmitJobLimit"),
    ]
    assert submission.last_refusal() == ""


def test_another_refusal_is_final_and_its_words_are_kept(sbatch):
    sbatch.write_text("Invalid qos specification\n")
    done = submit()
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "sbatch: error: Invalid qos specification\n"
    assert submission.last_refusal() == "Invalid qos specification"
