"""The README's commands on a cluster."""

from __future__ import annotations

import re

from clusters import PROMPT, OnCluster, hosts
from copies import Project
from slurm import Cluster


def test_a_run_measures_on_the_nodes_and_reports_on_the_login_node(
    finished_once: tuple[Project, str], slurm: Cluster
) -> None:
    project, said = finished_once
    places = hosts(project)
    assert len(places) == 4
    assert all(len(each) == 1 for each in places.values())
    assert len(set.union(*places.values())) > 1
    assert set.union(*places.values()) <= {node.name for node in slurm.nodes}
    page = (project.folder / "results/report/index.html").read_text()
    assert "turns/s" in page
    assert project.leftovers() == []
    assert "4 of 4 launches done" in said


def test_one_experiment_is_measured_again_alone(finished_once: tuple[Project, str], slurm: Cluster) -> None:
    project, _ = finished_once
    raw = project.folder / "results/raw"
    before = {path: path.stat().st_mtime_ns for path in raw.rglob("*.parquet")}
    said = OnCluster(project.folder, slurm).succeed(*PROMPT, "-F", "toy")
    again = {path.parts[len(raw.parts)] for path, at in before.items() if path.stat().st_mtime_ns != at}
    assert again == {"toy"}
    assert len(re.findall(r"submitted with SLURM jobid", said)) == 2
