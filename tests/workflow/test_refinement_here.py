"""A crossover that the first launches find is refined, in the same run and by its own launches."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from copies import CLIFF_GRAMS, Project

from crossover.records import record

RUN = ("snakemake", "--profile", "profiles/local")
REFINEMENT = "results/raw/quick/toy/refinement.json"
FIRST, SECOND = (1, 2, 3), (10001, 10002, 10003)


@pytest.fixture(scope="module")
def swept(swept_once: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str]:
    """A project after the refinement of the toy, and the output."""
    folder = shutil.copytree(swept_once, tmp_path_factory.mktemp("swept") / "project", symlinks=True)
    return Project(folder), (folder / "said.txt").read_text()


def raw(project: Project) -> dict[int, Path]:
    return {int(name.rpartition("/")[2]): path for name, path in project.raw().items()}


def test_the_refinement_is_run_by_the_same_command(swept: tuple[Project, str]) -> None:
    project, said = swept
    assert sorted(raw(project)) == [*FIRST, *SECOND]
    assert "tier quick: 3 launches" in said
    assert "then, inside the crossovers of these, a refinement of at most 3 launches" in said
    assert "node, tasks spin: 3 more launches, at 10, 18, 32, 56, 100" in said
    assert "6 of 6 launches measured" in said
    assert project.leftovers() == []


def test_the_second_measures_the_points_of_the_bracket_and_says_so(swept: tuple[Project, str]) -> None:
    project, _ = swept
    for number, path in raw(project).items():
        table = pq.read_table(path, partitioning=None)
        settings = json.loads(record.metadata(table)["launch"]["settings"])
        inside = [10, 18, 32, 56, 100]
        assert settings.get("cells") == ({'{"work": "spin"}': inside} if number in SECOND else None)
        assert sorted(set(table["x"].to_pylist())) == (inside if number in SECOND else [1, 10, 100, 1000])


def test_the_refinement_locates_the_cliff_four_times_as_precisely(swept: tuple[Project, str]) -> None:
    project, _ = swept
    [row] = record.read(project.folder / "results/crossovers.parquet", record.CROSSOVERS).to_pylist()
    assert (row["verdict"], row["bracket_low"], row["bracket_high"]) == ("one", 18, 32)
    assert row["bracket_low"] < CLIFF_GRAMS < row["bracket_high"]
    assert row["launches"] == 6


def test_the_page_says_which_launches_and_points_refined_it(swept: tuple[Project, str]) -> None:
    project, _ = swept
    page = " ".join((project.folder / "results/report/index.html").read_text().split())
    assert "A refinement of 3 launches (number 10001 to 10003) added" in page


def test_a_second_run_has_nothing_to_do(swept: tuple[Project, str]) -> None:
    assert swept[0].planned() == {}


@pytest.mark.long
def test_only_a_missing_launch_of_the_refinement_is_measured_again(swept: tuple[Project, str]) -> None:
    project, _ = swept
    path = raw(project)[10003]
    aside = path.rename(project.folder / "aside")
    assert project.planned("toy")["launch"] == ["Measuring toy, placement node, launch 10003"]
    # A partial run reports the existing launches and measures nothing.
    partial = project.planned("--config", "partial=true")
    assert not {"launch", "refinement"} & set(partial) and "tables" in partial
    aside.rename(path)


@pytest.mark.long
def test_a_partial_run_uses_launches_as_they_are_despite_changes(swept: tuple[Project, str]) -> None:
    project, _ = swept
    driver = project.folder / "workflow/crossover/experiments/toy/driver.py"
    before = driver.read_text()
    driver.write_text(f"{before}\n\nCHANGED = True\n")
    assert len(project.planned("--config", "remeasure=true")["launch"]) == len(FIRST)
    assert "launch" not in project.planned("--config", "partial=true")
    driver.write_text(before)
    assert project.planned() == {}


@pytest.mark.long
def test_without_points_to_refine_there_is_no_refinement(swept: tuple[Project, str]) -> None:
    project, _ = swept
    before = (project.folder / "config/config.yaml").read_text()
    project.edit("config/config.yaml", "refine_points: 3", "refine_points: 0")
    assert not {"launch", "refinement"} & set(project.planned())
    (project.folder / "config/config.yaml").write_text(before)


@pytest.mark.long
def test_an_unchanged_refinement_remeasures_nothing(swept: tuple[Project, str]) -> None:
    project, _ = swept
    project.edit("workflow/crossover/analyse/estimates/crossover.py", "STEPS = 64", "STEPS = 65")
    assert "refinement" in project.planned()
    project.succeed(*RUN, REFINEMENT)
    left = project.planned()
    assert "tables" in left and "launch" not in left
