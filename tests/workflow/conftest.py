"""A fresh copy of the project, and one after its main job."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from copies import SMALL_MPI, Project, copy_of_the_project


@pytest.fixture(scope="session", autouse=True)
def _temporary_folder_of_its_own() -> Iterator[None]:
    """Launches wait for each other by a lock of the host; these tests need no numbers, so no wait."""
    with tempfile.TemporaryDirectory(prefix="tests-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)
        patch.setenv("CROSSOVER_LOCK", folder)
        yield


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A fresh copy in which only the toy is configured."""
    copy = copy_of_the_project(tmp_path / "project")
    copy.configure(toy={})
    return copy


@pytest.fixture(scope="session")
def finished_once(build_once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """The folder of a project after its whole main job: the toy and a small MPI ping-pong."""

    def build_in(folder: Path) -> None:
        copy = copy_of_the_project(folder / "project")
        copy.configure(toy={}, mpi_pingpong=SMALL_MPI)
        copy.succeed("snakemake", "--profile", "profiles/local")

    return build_once("finished", build_in) / "project"


@pytest.fixture
def finished(finished_once: Path, tmp_path: Path) -> Project:
    """A copy of the finished project."""
    return Project(shutil.copytree(finished_once, tmp_path / "project", symlinks=True))


@pytest.fixture
def other_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """What sets MPI's compiler to one in another folder, if stated with another version."""

    def change(version: str) -> None:
        program = tmp_path / "mpicc"
        found = shutil.which("mpicc", path=str(Path(sys.executable).parent))
        said = f'[ "$1" = --version ] && echo "{version}" && exit\n' if version else ""
        program.write_text(f'#!/bin/sh\n{said}exec {found} "$@"\n')
        program.chmod(0o755)
        monkeypatch.setenv("MPICC", str(program))

    return change
