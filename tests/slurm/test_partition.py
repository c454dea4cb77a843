"""Is the number of nodes read from Slurm's answer, and left out without one?"""

import doctest
import sys
import time
from types import SimpleNamespace

import pytest

from crossover.slurm import partition
from crossover.workflow import session

ANSWER = "main* 3\nsingle 1\n"


def workflow(executor="slurm", named=None, asked=(), **bounds):
    """A run of Snakemake with up to 100 jobs at a time, one of them due."""
    job = SimpleNamespace(
        rule=SimpleNamespace(name="launch"), resources=dict(asked) | ({"slurm_partition": named} if named else {})
    )
    return SimpleNamespace(
        nodes=100,
        executor_plugin=SimpleNamespace(name=executor),
        global_resources={name: SimpleNamespace(value=value) for name, value in bounds.items()},
        dag=SimpleNamespace(needrun_jobs=lambda exclude_finished: [job]),
    )


@pytest.fixture
def slurm(monkeypatch):
    monkeypatch.setattr(partition, "ask", lambda _: ANSWER)


def test_the_example_in_the_docstring_holds():
    assert doctest.testmod(partition).failed == 0


def test_the_partition_of_the_launches_or_the_default_one_is_counted(slurm):
    assert session.most_nodes(workflow()) == 3
    assert session.most_nodes(workflow(named="single")) == 1
    assert session.most_nodes(workflow(named="main,single")) == 4


def test_a_dry_run_asks_slurm_only_for_launches_on_slurm(slurm):
    assert session.most_nodes(workflow("dryrun", asked={"slurm_extra": "--exclusive"})) == 3
    assert session.most_nodes(workflow("dryrun")) is None


def test_the_key_nodes_and_the_number_of_jobs_are_bounds_too(slurm, monkeypatch):
    assert session.most_nodes(workflow(nodes=2)) == 2
    monkeypatch.setattr(partition, "ask", lambda _: "main* 5000")
    assert session.most_nodes(workflow()) == 100


@pytest.mark.parametrize("executor", ["slurm", "kubernetes"])
def test_without_an_answer_only_the_key_is_a_bound(monkeypatch, executor):
    monkeypatch.setattr(partition, "ask", lambda _: "")
    assert session.most_nodes(workflow(executor)) is None
    assert session.most_nodes(workflow(executor, nodes=2)) == 2


def test_a_silent_slurm_and_an_absent_one_are_no_answer(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert partition.ask("%P %D") == ""
    silent = tmp_path / "sinfo"
    silent.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    silent.chmod(0o755)
    monkeypatch.setattr(partition, "LIMIT_SECONDS", 0.2)
    start = time.monotonic()
    assert partition.ask("%P %D") == ""
    assert time.monotonic() - start < 30
