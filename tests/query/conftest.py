"""Two real runs at tier quick."""

import pytest
from runs import stored

from crossover.query.run import Run


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """The stored runs."""
    return [Run(stored(number, tmp_path_factory.mktemp(f"quick_{number}"))) for number in (1, 2)]
