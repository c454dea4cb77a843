"""Gives every test this interpreter and its programs, like a run, without an activated environment."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

from crossover.workflow import session

session.expose()

# On a busy machine any example can be slow.
hypothesis.settings.register_profile("crossover", deadline=None)
hypothesis.settings.load_profile("crossover")

BuildOnce = Callable[[str, Callable[[Path], object]], Path]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the main job's tests first: they wait most, and the last ones must be short."""
    items.sort(key=lambda item: "workflow" not in item.path.parts)


@pytest.fixture(scope="session")
def build_once(tmp_path_factory: pytest.TempPathFactory) -> BuildOnce:
    """Returns a folder by its name. The first worker that requests it builds its contents; the others wait."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def build(name: str, build_in: Callable[[Path], object]) -> Path:
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (shared / name).exists():
                unfinished = tmp_path_factory.mktemp(name)
                build_in(unfinished)
                unfinished.rename(shared / name)
        return shared / name

    return build
