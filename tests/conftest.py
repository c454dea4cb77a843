"""What every test finds, with no environment activated: this interpreter and its programs, as in a run."""

import pytest

from crossover.run import session

session.expose()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The main job's tests first: they wait most, and whichever comes last must not be long."""
    items.sort(key=lambda item: "workflow" not in item.path.parts)
