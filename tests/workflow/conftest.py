"""A fresh copy of the project, and one whose main job has been run."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from copies import SMALL_MPI, Project, copy_of_the_project


@pytest.fixture(scope="session", autouse=True)
def _temporary_folder_of_its_own() -> Iterator[None]:
    """Launches wait for one another by a lock in the temporary folder; no number counts here, so tests need not."""
    with tempfile.TemporaryDirectory(prefix="tests-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)
        yield


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A fresh copy in which only the toy is configured."""
    copy = copy_of_the_project(tmp_path / "project")
    copy.configure(toy={})
    return copy


@pytest.fixture(scope="session")
def _finished_once(tmp_path_factory: pytest.TempPathFactory) -> Project:
    copy = copy_of_the_project(tmp_path_factory.mktemp("finished") / "project")
    copy.configure(toy={}, mpi_pingpong=SMALL_MPI)
    copy.succeed("snakemake", "--profile", "profiles/local")
    return copy


@pytest.fixture
def finished(_finished_once: Project, tmp_path: Path) -> Project:
    """A copy whose main job, the toy and a small MPI ping-pong, has been run to its end."""
    shutil.copytree(_finished_once.folder, tmp_path / "project", symlinks=True)
    return Project(tmp_path / "project")
