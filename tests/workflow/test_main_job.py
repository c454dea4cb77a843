"""The literal commands of the README, run in a copy of the project."""

import re
from pathlib import Path

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
    assert finished.leftovers() == []
    # The toy's known ratio is found.
    table = record.read(results / "ratios.parquet", record.RATIOS).to_pylist()
    ratios = [row["ratio"] for row in table if row["arm"] == "slow"]
    assert len(ratios) == 3
    assert all(abs(ratio * 1.5 - 1) < 0.1 for ratio in ratios)


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
