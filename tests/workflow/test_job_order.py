"""Launches start by repetition, in a drawn order: as ready jobs, and in a run that was killed and resumed."""

import json
import signal
from dataclasses import dataclass, field
from typing import Any

import pytest
from copies import SMALL_MPI, Project
from test_interruptions import kill, wait_for

import snakemake_scheduler_plugin_crossover as plugin

RUN = ("snakemake", "--profile", "profiles/local")


@dataclass(frozen=True)
class Job:
    output: tuple[str, ...]
    priority: int = 1
    scheduler_resources: dict[str, int] = field(default_factory=lambda: {"_cores": 2, "_nodes": 1})


def selected(jobs: list[Job], **resources: int) -> list[str]:
    chosen: list[Any] = plugin.Scheduler(None, None, None).select_jobs(jobs, jobs, resources, {})
    return ["".join(job.output) for job in chosen]


def test_the_first_in_the_order_starts_and_others_where_there_is_room(monkeypatch) -> None:
    monkeypatch.setattr(plugin, "_place_of", lambda path: (int(path[1:]),) if path else ())
    launches = [Job(("l3",)), Job(("l1",)), Job(("l2",))]
    assert selected(launches, _cores=2) == ["l1"]
    assert selected(launches, _cores=5, _nodes=9) == ["l1", "l2"]
    assert selected(launches, _cores=9, _nodes=1) == ["l1"]
    assert selected(launches, _cores=1) == []
    small = Job(("l9",), 0, {"_cores": 1})
    assert selected([small, *launches], _cores=3) == ["l1", "l9"]
    assert selected([Job((), 0), *launches, Job(("l8",), 2)], _cores=2) == ["l8"]


def written(project: Project) -> list[str]:
    """The receipts of launches in the order of their ends."""
    paths = project.receipts().items()
    return [name for _, name in sorted((json.loads(path.read_text())["written"], name) for name, path in paths)]


@pytest.mark.long
def test_every_experiment_has_its_first_launch_before_any_second_and_a_resumed_run_goes_on(project: Project) -> None:
    project.configure(toy={"launches": 3}, mpi_pingpong=SMALL_MPI | {"launches": 3})
    run = project.start(*RUN)
    wait_for(lambda: len(project.receipts()) >= 2)
    kill(run, signal.SIGKILL)
    project.succeed(*RUN)
    resumed = written(project)
    numbers = [int(name.rpartition("/")[2]) for name in resumed]
    assert numbers == sorted(numbers) and numbers.count(1) == numbers.count(3) == len(numbers) / 3
    # From nothing, in a folder of the same name, the order is the same.
    for path in (*project.receipts().values(), *project.raw().values()):
        path.unlink()
    project.succeed(*RUN)
    assert written(project) == resumed
