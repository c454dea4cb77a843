"""After a change, the same command repeats exactly the affected jobs."""

from collections.abc import Callable

import pytest
from copies import SMALL_MPI, Project

DRIVER = "workflow/crossover/experiments/toy/driver.py"


def test_a_second_run_has_nothing_to_do_even_if_every_source_was_touched(finished: Project) -> None:
    for path in finished.folder.rglob("*"):
        if path.is_file() and not path.is_relative_to(finished.folder / "results") and ".snakemake" not in path.parts:
            path.touch()
    assert finished.planned() == {}
    assert "nothing is left to measure" in finished.succeed("snakemake", "--profile", "profiles/local")


def test_editing_a_driver_affects_its_own_launches_and_their_results_but_no_others(finished: Project) -> None:
    finished.edit(DRIVER, "2e-5", "3e-5")
    jobs = finished.planned("--config", "remeasure=true")
    assert len(jobs["launch"]) == 2
    assert not [job for rule in jobs.values() for job in rule if "mpi_pingpong" in job]
    assert {"tables", "figures", "join", "report"} < set(jobs)
    assert finished.planned("mpi_pingpong") == {}


def test_editing_the_page_only_renders_it_and_editing_the_statistics_reruns_no_launch(finished: Project) -> None:
    finished.edit("reports/index.qmd", "\n# ", "\nOne more sentence.\n\n# ")
    assert set(finished.planned()) == {"report"}
    finished.edit("workflow/crossover/analyse/estimates/intervals.py", "WINDOW = 5", "WINDOW = 4")
    assert set(finished.planned()) == {"tables", "join", "claims", "recommend", "figures", "report"}


@pytest.mark.long
def test_only_another_compiler_is_built_with_again_and_for_new_launches_alone_which_are_measured(
    finished: Project, other_compiler: Callable[[str], None]
) -> None:
    before = finished.raw()
    other_compiler("other 1.0")
    assert finished.planned() == {}
    finished.configure(toy={}, mpi_pingpong=SMALL_MPI | {"launches": 3})
    # The same compiler in another folder; the finished project, too, is a copy in another folder.
    other_compiler("")
    assert "build" not in finished.planned("mpi_pingpong")
    other_compiler("other 1.0")
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


def test_forcing_one_experiment_reruns_no_other(finished: Project) -> None:
    before = finished.raw()
    finished.succeed("snakemake", "--profile", "profiles/local", "-F", "mpi_pingpong")
    after = finished.raw()
    assert {name.partition("/")[0] for name in before if after[name] != before[name]} == {"mpi_pingpong"}
    assert all(path.exists() for path in before.values())
    left = finished.planned()
    assert set(left) == {"join", "claims", "recommend", "figures", "report"}
    assert left["figures"] == ["Drawing the ladder of all layers"]
