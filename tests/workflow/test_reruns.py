"""After a change, the same command repeats exactly the affected jobs."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from copies import SMALL_MPI, Project

DRIVER = "workflow/crossover/experiments/toy/driver.py"


def about(jobs: list[str], experiment: str) -> list[str]:
    return [job for job in jobs if experiment in job]


def test_a_second_run_has_nothing_to_do(finished: Project) -> None:
    assert finished.planned() == {}
    assert "nothing is left to measure" in finished.succeed("snakemake", "--profile", "profiles/local")


def test_touching_every_file_reruns_nothing(finished: Project) -> None:
    later = time.time() + 10
    for path in finished.folder.rglob("*"):
        if path.is_file() and not path.is_relative_to(finished.folder / "results") and ".snakemake" not in path.parts:
            path.touch()
            assert path.stat().st_mtime < later
    assert finished.planned() == {}


def test_editing_a_driver_affects_its_own_launches_and_their_results_but_no_others(finished: Project) -> None:
    finished.edit(DRIVER, "2e-5", "3e-5")
    jobs = finished.planned("--config", "remeasure=true")
    assert len(about(jobs["launch"], "toy")) == 2
    assert not [job for rule in jobs.values() for job in rule if "mpi_pingpong" in job]
    assert {"tables", "figures", "join", "report"} < set(jobs)
    assert finished.planned("mpi_pingpong") == {}


@pytest.mark.long
def test_editing_the_sampler_affects_every_launch(finished: Project) -> None:
    finished.edit("workflow/crossover/measure/sampling/sampler.py", "SELDOM = 3", "SELDOM = 4")
    assert len(finished.planned("--config", "remeasure=true")["launch"]) == 4


def test_editing_the_statistics_reruns_no_launch(finished: Project) -> None:
    finished.edit("workflow/crossover/analyse/estimates/intervals.py", "WINDOW = 5", "WINDOW = 4")
    assert set(finished.planned()) == {"tables", "join", "claims", "recommend", "figures", "report"}


def test_editing_the_page_only_renders_the_page(finished: Project) -> None:
    finished.edit("reports/index.qmd", "\n# ", "\nOne more sentence.\n\n# ")
    assert set(finished.planned()) == {"report"}


@pytest.mark.parametrize("end", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:-10])])
def test_a_deleted_or_cut_raw_file_reruns_that_launch(finished: Project, end: Callable[[Path], object]) -> None:
    end(finished.raw()["mpi_pingpong/node/2"])
    assert finished.planned()["launch"] == ["Measuring mpi_pingpong, placement node, launch 2"]


@pytest.mark.long
def test_more_launches_measure_only_the_new_ones(finished: Project) -> None:
    finished.configure(toy={"launches": 3}, mpi_pingpong=SMALL_MPI)
    assert finished.planned()["launch"] == ["Measuring toy, placement node, launch 3"]


@pytest.mark.long
def test_a_changed_setting_affects_its_experiment(finished: Project) -> None:
    finished.configure(toy={"weights": [1, 10]}, mpi_pingpong=SMALL_MPI)
    jobs = finished.planned("--config", "remeasure=true")["launch"]
    assert len(jobs) == len(about(jobs, "toy")) == 2


@pytest.mark.long
def test_another_compiler_repeats_no_measured_launch_and_no_build_for_it(
    finished: Project, other_compiler: Callable[[str], None]
) -> None:
    other_compiler("other 1.0")
    assert finished.planned() == {}


@pytest.mark.long
def test_a_compiler_in_another_folder_builds_nothing_again(
    finished: Project, other_compiler: Callable[[str], None]
) -> None:
    # The finished project is itself a copy in another folder than the one that was measured.
    other_compiler("")
    finished.configure(toy={}, mpi_pingpong=SMALL_MPI | {"launches": 3})
    jobs = finished.planned("mpi_pingpong")
    assert len(jobs["launch"]) == 1 and "build" not in jobs


@pytest.mark.long
def test_a_run_that_must_build_again_measures_what_it_announces(
    finished: Project, other_compiler: Callable[[str], None]
) -> None:
    before = finished.raw()
    other_compiler("other 1.0")
    finished.configure(toy={}, mpi_pingpong=SMALL_MPI | {"launches": 3})
    jobs = finished.planned("mpi_pingpong")
    assert jobs["launch"] == ["Measuring mpi_pingpong, placement node, launch 3"] and "build" in jobs
    finished.succeed("snakemake", "--profile", "profiles/local", "--", "mpi_pingpong")
    after = finished.raw()
    assert {*after} - {*before} == {"mpi_pingpong/node/3"} and all(after[name] == file for name, file in before.items())


def test_the_name_of_an_experiment_builds_it_and_its_figures_only(project: Project) -> None:
    project.configure(toy={}, mpi_pingpong=SMALL_MPI)
    jobs = project.planned("mpi_pingpong")
    assert set(jobs) == {"build", "launch", "tables", "figures"}
    assert all("mpi_pingpong" in job for rule in jobs.values() for job in rule if "library" not in job)
    assert sorted(jobs["build"]) == ["Building the library memory_copy", "Building the library mpi_exchange"]


@pytest.mark.long
def test_without_ceilings_nothing_is_built(project: Project) -> None:
    project.configure(toy={}, mpi_pingpong=SMALL_MPI | {"ceilings": []})
    assert "build" not in project.planned()


@pytest.mark.long
def test_a_deleted_or_touched_library_reruns_no_launch(finished: Project) -> None:
    (finished.folder / "results/native/mpi_exchange.so").unlink()
    (finished.folder / "results/native/memory_copy.so").touch()
    assert finished.planned() == {}


def test_forcing_one_experiment_reruns_no_other(finished: Project) -> None:
    before = finished.raw()
    finished.succeed("snakemake", "--profile", "profiles/local", "-F", "mpi_pingpong")
    after = finished.raw()
    assert {name.partition("/")[0] for name in before if after[name] != before[name]} == {"mpi_pingpong"}
    assert all(path.exists() for path in before.values())
    left = finished.planned()
    assert set(left) == {"join", "claims", "recommend", "figures", "report"}
    assert left["figures"] == ["Drawing the ladder of all layers"]
