"""Two real runs at tier quick, and a synthetic one with two rivals."""

import sys
from pathlib import Path

import pytest
from runs import finished, stored

from crossover.query.run import Run

# The synthetic tables of the report's tests.
sys.path.append(str(Path(__file__).parents[1] / "report"))


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """The stored runs."""
    return [Run(stored(number, tmp_path_factory.mktemp(f"quick_{number}"))) for number in (1, 2)]


@pytest.fixture(scope="session")
def rivals(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run in which no-copy takes 0.7 and default 0.8 times as long as copy, the reference."""
    slower = {"no-copy": 0.7, "default": 0.8}
    return Run(finished(tmp_path_factory.mktemp("rivals"), 3, slower=slower))
