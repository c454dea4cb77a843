"""One synthetic run, its results, its rendered page and a browser, for all tests of the report."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from campaigns import two_good_one_hole
from checkouts import git, write_raw
from playwright.sync_api import sync_playwright

from crossover.records import record
from crossover.report.pages import renderer

BuildOnce = Callable[[str, Callable[[Path], object]], Path]
NEAR_ARE_DRAWN = """() => [...document.querySelectorAll(".crossover-chart")]
    .filter((chart) => chart.checkVisibility() && chart.getBoundingClientRect().top < innerHeight)
    .every((chart) => chart.dataset.drawn === "yes")"""


@pytest.fixture(scope="session")
def results(build_once: BuildOnce) -> Path:
    """Two experiments with data, and one with only holes."""
    return build_once("results", lambda folder: two_good_one_hole().write(folder))


@pytest.fixture(scope="session")
def rendered(results: Path, build_once: BuildOnce) -> Path:
    """The page on these results, rendered by the built-in preview even if Quarto is installed."""

    def build_in(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", str(folder))
            renderer.render(results, folder / "report" / "index.html")

    return build_once("page", build_in) / "report" / "index.html"


@pytest.fixture(scope="session")
def chromium():
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not found:
        missing = "no Chromium on PATH; install one (Debian: apt-get install chromium)"
        # A developer's machine may have no browser, but in the gate skipped tests would hide a failure.
        (pytest.fail if os.environ.get("CROSSOVER_BROWSER") == "required" else pytest.skip)(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page_file(request):
    """The synthetic report, or a real one that CROSSOVER_PAGE names."""
    return Path(os.environ.get("CROSSOVER_PAGE") or request.getfixturevalue("rendered")).resolve()


@pytest.fixture
def open_page(chromium, page_file):
    """Opens the report without a network; afterwards, no error and no request must have occurred."""
    complaints, contexts = [], []

    def open_it(width=1280, scheme="light", file=page_file):
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        context.set_offline(True)
        context.route(lambda url: not url.startswith(("file:", "data:")), lambda route: route.abort())
        page = context.new_page()
        page.on("requestfailed", lambda request: complaints.append(f"failed: {request.url}"))
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(file.as_uri())
        page.wait_for_function(NEAR_ARE_DRAWN)
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def whole_run(results: Path, rendered: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole run: these results with their page, and every launch's raw file."""
    folder = tmp_path_factory.mktemp("run") / "results"
    shutil.copytree(results, folder)
    (folder / "report").mkdir()
    shutil.copyfile(rendered, folder / "report" / "index.html")
    for row in record.read(folder / "launches.parquet", record.LAUNCHES).to_pylist():
        write_raw(folder, row)
    return folder


@pytest.fixture
def run(whole_run: Path, tmp_path: Path) -> Path:
    """A copy of the whole run."""
    return Path(shutil.copytree(whole_run, tmp_path / "run" / "results"))


@pytest.fixture
def checkout(run, tmp_path, monkeypatch):
    """A clone with a bare remote, in which the run was made; the current folder."""
    for name, value in {"GLOBAL": os.devnull, "NOSYSTEM": "1"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    for variable in [name for name in os.environ if name.startswith(("GIT_COMMITTER", "GIT_AUTHOR"))]:
        monkeypatch.delenv(variable)
    folder, remote = run.parent, tmp_path / "remote.git"
    git("init", "-q", "--bare", "-b", "main", str(remote), folder=tmp_path)
    git("init", "-q", "-b", "main", folder=folder)
    (folder / ".gitignore").write_text("results/\n")
    git("config", "user.name", "A user", folder=folder)
    git("config", "user.email", "user@example.org", folder=folder)
    git("add", ".", folder=folder)
    git("commit", "-qm", "Begin", folder=folder)
    git("remote", "add", "origin", str(remote), folder=folder)
    monkeypatch.chdir(folder)
    return folder
