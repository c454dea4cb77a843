"""The README's commands on a cluster."""

from __future__ import annotations

from clusters import hosts
from copies import Project
from slurm import Cluster


def test_the_bare_command_measures_on_the_nodes_and_reports_on_the_login_node(
    finished_once: tuple[Project, str], slurm: Cluster
) -> None:
    project, _ = finished_once
    assert len(hosts(project)) == 4
    assert all(len(places) == 1 for places in hosts(project).values())
    assert set.union(*hosts(project).values()) <= {node.name for node in slurm.nodes}
    assert (project.folder / "results/report/index.html").exists()
