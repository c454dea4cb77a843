"""The ceilings' libraries, built once for all tests of the measuring wing."""

import shutil
from pathlib import Path

import pytest

from crossover.measure import native_build


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds them. Skips where no compiler is."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler here")
    folder = tmp_path_factory.mktemp("native")
    for source in native_build.SOURCES.glob("*.c"):
        assert native_build.build(source, folder / f"{source.stem}.so") == ""
    return folder
