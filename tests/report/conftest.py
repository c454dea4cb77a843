"""One synthetic run, its results and its rendered page, shared by the tests of this wing."""

from pathlib import Path

import pytest
from campaigns import two_good_one_hole

from crossover.report import render


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two experiments with data, and one of which every launch is a hole."""
    return two_good_one_hole().write(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="session")
def rendered(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page on these results, by the built-in preview even where Quarto is installed."""
    page = tmp_path_factory.mktemp("page") / "report" / "index.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(page.parent))
        render.render(results, page)
    return page
