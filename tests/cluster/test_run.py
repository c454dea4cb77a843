"""The README's commands on a cluster."""

from __future__ import annotations

import pyarrow.parquet as pq
from copies import Project
from slurm import Cluster

from crossover import record


def hosts(project: Project) -> dict[str, set[str]]:
    """Where each launch ran, by its raw file, as its ranks saw it."""
    raw = project.folder / "results/raw"
    found = {
        str(path.relative_to(raw)): record.metadata(pq.read_table(path, partitioning=None))
        for path in raw.rglob("*.parquet")
    }
    return {name: {rank["host"] for rank in facts["ranks"]} for name, facts in found.items()}


def test_the_bare_command_measures_on_the_nodes_and_reports_on_the_login_node(
    finished_once: tuple[Project, str], slurm: Cluster
) -> None:
    project, _ = finished_once
    assert len(hosts(project)) == 4
    assert all(len(places) == 1 for places in hosts(project).values())
    assert set.union(*hosts(project).values()) <= {node.name for node in slurm.nodes}
    assert (project.folder / "results/report/index.html").exists()
