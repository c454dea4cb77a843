"""The literal commands of the README, run in a copy of the project."""

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from copies import ROOT, Project

from crossover.analyse.tables.writer import TABLES
from crossover.records import record


def test_one_driver_one_block_and_one_line_add_an_experiment(finished: Project) -> None:
    results = finished.folder / "results"
    for name, schema in TABLES.items():
        experiments = set(record.read(results / f"{name}.parquet", schema)["experiment"].to_pylist())
        # Their metrics have no levels, and one host is compared with no other.
        few = {"thresholds": set(), "hosts": set(), "pairs": set()}
        assert experiments == few.get(name, {"toy", "mpi_pingpong"})
    figures = sorted(path.name for path in (results / "figures/toy").glob("[!.]*"))
    assert figures == ["pace-tasks-spin-ratio.vl.json", "pace-tasks-spin.vl.json"]
    page = (results / "report/index.html").read_text()
    assert "Chart of pace against " in page and "grams" in page


def test_the_toys_known_ratio_is_found(finished: Project) -> None:
    table = record.read(finished.folder / "results/ratios.parquet", record.RATIOS).to_pylist()
    ratios = [row["ratio"] for row in table if row["arm"] == "slow"]
    assert len(ratios) == 3
    assert all(abs(ratio * 1.5 - 1) < 0.1 for ratio in ratios)


def test_every_raw_file_says_where_it_comes_from(finished: Project) -> None:
    for path in (finished.folder / "results/raw").rglob("*.parquet"):
        facts = record.metadata(pq.read_table(path, partitioning=None))
        assert facts["launch"]["outcome"] == "measured"
        assert {"settings", "code", "started_utc", "host", "wall_seconds", "timed_seconds"} <= set(facts["launch"])
        assert [rank["rank"] for rank in facts["ranks"]] == [0, 1]


def test_the_run_leaves_no_part_file(finished: Project) -> None:
    assert finished.leftovers() == []


@pytest.mark.long
def test_another_folder_receives_everything(project: Project) -> None:
    command = ("snakemake", "--profile", "profiles/local", "--config", "results=./elsewhere/", "--", "toy")
    project.succeed(*command)
    assert (project.folder / "elsewhere/figures/toy/pace-tasks-spin.vl.json").exists()
    assert not (project.folder / "results").exists()
    assert "nothing is left to measure" in project.succeed(*command)


def test_the_bare_slurm_profile_is_found_through_the_link(project: Project) -> None:
    said = project.succeed("snakemake", "--profile", "slurm", "-n")
    assert re.search(r"^launch +2$", said, re.MULTILINE)


@pytest.mark.parametrize("pages", ["README.md", pytest.param("[dp]*/**/*.md", marks=pytest.mark.long)])
def test_every_snakemake_command_of_the_documents_can_be_planned(project: Project, pages: str) -> None:
    commands = {line for page in ROOT.glob(pages) for line in _commands(page)}
    assert len(commands) > 1
    project.configure(zmq_throughput={}, mpi_pingpong={}, task_latency={})
    for command in sorted(commands):
        project.succeed("snakemake", "-n", *command.split()[1:])


def _commands(page: Path) -> list[str]:
    blocks = re.findall(r"^(?: {4,6}|\$ |)(snakemake [^\n#`]*?)(?: {2,}.*)?$", page.read_text(), re.MULTILINE)
    return [block.strip() for block in blocks]
