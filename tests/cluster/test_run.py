"""The README's commands on a cluster."""

from __future__ import annotations

from clusters import hosts
from copies import Project
from slurm import Cluster


def test_the_bare_command_measures_on_the_nodes_and_reports_on_the_login_node(
    finished_once: tuple[Project, str], slurm: Cluster
) -> None:
    project, _ = finished_once
    counts = {"toy/node": 1, "mpi_pingpong/node": 1, "mpi_pingpong/nodes": 2}
    assert {file: len(places) for file, places in hosts(project).items()} == {
        f"{kind}/launch={launch}.parquet": count for kind, count in counts.items() for launch in (1, 2)
    }
    assert set.union(*hosts(project).values()) <= {node.name for node in slurm.nodes}
    assert (project.folder / "results/report/index.html").exists()
