"""An intact cluster, and copies of the project in the folder that its machines share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import SLURM, OnCluster, Supply, require
from copies import SMALL_MPI, Project, copy_of_the_project
from slurm import Cluster, why_not

LIMIT_SECONDS = 600


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.cluster)
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(LIMIT_SECONDS))


@pytest.fixture(scope="session")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Supply]:
    """Hands out intact clusters."""
    require(why_not())
    with Supply(tmp_path_factory.mktemp("shared")) as supply:
        yield supply


@pytest.fixture
def slurm(clusters: Supply) -> Cluster:
    """A Slurm without jobs, of three nodes that are idle and not throttled."""
    return clusters.whole()


@pytest.fixture
def project(slurm: Cluster, tmp_path: Path) -> OnCluster:
    """A fresh copy in which only the toy is configured; its commands run on the login node."""
    copy = copy_of_the_project(slurm.shared / tmp_path.name)
    copy.configure(toy={})
    return OnCluster(copy.folder, slurm)


@pytest.fixture(scope="session")
def finished_once(clusters: Supply) -> tuple[Project, str]:
    """A copy in which the bare command has measured the toy and a small MPI ping-pong, and the command's output."""
    slurm = clusters.whole()
    copy = copy_of_the_project(slurm.shared / "finished")
    copy.configure(toy={}, mpi_pingpong=SMALL_MPI)
    return copy, OnCluster(copy.folder, slurm).succeed(*SLURM)
