"""Does `crossover more` plan launches beside the first ones, with the tier and profile of the run?"""

import os
import sys

import pytest
from copies import Project
from test_kept import raw

from crossover.__main__ import main
from crossover.workflow import replication


def test_more_launches_are_planned_beside_the_first_and_nothing_else(
    finished: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = raw(finished)
    said = finished.succeed("crossover", "more", "--dry-run", "mpi_pingpong")
    assert "launches of each group of rivals: 4 of mpi_pingpong; about " in said
    assert "launch" not in finished.planned(), "a dry run must change nothing"

    started: list[list[str]] = []
    monkeypatch.chdir(finished.folder)
    monkeypatch.setattr(os, "execv", lambda program, words: started.append([program, *words]))
    assert main(["more", "mpi_pingpong"]) == 0
    again = ["snakemake", "--profile", "profiles/local", "--config", "results=results", "tier=quick"]
    assert started == [[sys.executable, sys.executable, "-m", *again]]
    assert replication.wanted("results", "quick") == {"mpi_pingpong": 4}
    added = [f"Measuring mpi_pingpong, placement node, launch {number}" for number in (3, 4)]
    assert sorted(finished.planned()["launch"]) == added
    assert raw(finished) == first


def test_without_a_finished_run_the_next_step_is_named(project: Project) -> None:
    code, said = project.run("crossover", "more")
    assert code == 1 and "no run has finished there" in said and "Traceback" not in said
