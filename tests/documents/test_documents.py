"""Do the documents agree with the code?"""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from crossover.config import reference_page, sources
from crossover.design import advice, experiments, farms
from crossover.design.settings import Settings, described
from crossover.paths import PACKAGE

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "profiles").rglob("*.md"))]

DECISIONS = [page for page in PAGES if page.parent == ROOT / "docs/decisions" and page.name != "README.md"]
LOGS = [page for page in PAGES if page.parent == ROOT / "docs/benchmarks" and page.name != "README.md"]


def test_the_configuration_page_agrees_with_the_schema() -> None:
    assert (ROOT / "config/README.md").read_text() == reference_page.text(), "run: make docs"


def test_the_overview_has_a_row_for_every_experiment() -> None:
    page = reference_page.OVERVIEW.read_text()
    assert page == reference_page.overview(page), "run: make docs"
    assert [f"| `{name}`" in page for name in experiments.names()] == [True] * len(experiments.names())


def test_the_bibliography_agrees_with_the_sources() -> None:
    assert sources.BIBLIOGRAPHY.read_text() == sources.bibliography(sources.read()), "run: make docs"


def test_every_key_of_an_experiment_has_a_description() -> None:
    for each in experiments.declared().values():
        for key, own in described(each.settings).items():
            assert own.about.endswith("."), key


def test_the_catalog_of_snakemake_workflows_finds_all_its_files() -> None:
    readme = (ROOT / "README.md").read_text().lower()
    assert "snakemake" in readme and "workflow" in readme
    assert (ROOT / "Snakefile").exists() and (ROOT / "config/README.md").exists() and (ROOT / "LICENSE").exists()
    assert list((ROOT / "workflow/rules").glob("*.smk"))
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert set(usage) == {"mandatory-flags", "software-stack-deployment", "report"}
    assert (ROOT / usage["mandatory-flags"]["flags"].split()[-1] / "config.yaml").exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_within_the_project_leads_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_index_lists_every_decision_by_its_title() -> None:
    index = (ROOT / "docs/decisions/README.md").read_text()
    listed = {name: title for title, name in re.findall(r"^- \[(.+)\]\((\S+)\)$", index, re.MULTILINE)}
    assert listed == {page.name: page.read_text().splitlines()[0][2:] for page in DECISIONS}


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_has_a_date_a_question_evidence_and_what_would_change_it(page: Path) -> None:
    text = page.read_text()
    assert re.match(r"# [^\n]+[^.]\n\n\d{4}-\d\d-\d\d[;\n]", text)
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings == ["Question", "Decision", "Evidence", "What would change it"]


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_a_log_is_linked_from_the_index_and_from_the_decision_that_it_names(log: Path) -> None:
    for decision in re.findall(r"Decision: \[.+\]\(\.\./decisions/(\S+)\)", log.read_text()):
        assert f"](../benchmarks/{log.name})" in (ROOT / "docs/decisions" / decision).read_text()
    assert f"]({log.name})" in (log.parent / "README.md").read_text()


def test_every_module_that_a_page_names_exists() -> None:
    folders = (ROOT / "workflow", ROOT / "tests", ROOT / "benchmarks", ROOT / "config")
    modules = [f"/{module.relative_to(ROOT)}" for folder in folders for module in folder.rglob("*.py")]
    named = {name for page in PAGES for name in re.findall(r"`([\w/]+\.py)`", page.read_text())}
    assert len(named) > 10
    assert [name for name in named if not any(module.endswith(f"/{name}") for module in modules)] == []


def test_every_make_target_that_a_page_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = {name for page in PAGES for name in re.findall(r"(?:^ {4}|`)make ([a-z]+)", page.read_text(), re.MULTILINE)}
    assert {"report", "test", "env"} <= named
    assert [name for name in named if not re.search(rf"^{name}:", makefile, re.MULTILINE)] == []


@pytest.mark.parametrize("name", experiments.names())
def test_every_experiment_has_a_protocol_and_a_default_to_gain_over(name: str) -> None:
    assert len(experiments.prose(name, "page.md").split()) > 20
    assert bool(experiments.of(name).default) == bool(experiments.of(name).questions)


# ---- locked versions


def locked(name: str) -> dict[str, str]:
    text = (ROOT / name).read_text()
    entries = re.findall(
        r"^([a-z0-9._-]+)==(\S+)[^\n]*\\\n((?: +--hash=sha256:[0-9a-f]{64}[ \\]*\n)+)", text, re.MULTILINE
    )
    assert len(entries) == len(re.findall(r"^[^ #\n]", text, re.MULTILINE)), "an entry without a version or a hash"
    return {f"{package} {version}": hashes for package, version, hashes in entries}


EXTRAS = [f"envs/{farm.extra}.lock" for farm in farms.declared().values() if farm.extra]


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock", *EXTRAS])
def test_a_lock_file_contains_versions_and_hashes_but_no_address(name: str) -> None:
    assert locked(name)
    assert "://" not in (ROOT / name).read_text()


def test_tests_use_the_same_versions_as_users() -> None:
    assert locked("requirements.lock").items() <= locked("requirements-dev.lock").items()


@pytest.mark.parametrize("name", EXTRAS)
def test_an_extra_changes_no_other_version(name: str) -> None:
    own = dict(each.split() for each in locked("requirements.lock"))
    extra = dict(each.split() for each in locked(name))
    assert set(extra) - set(own)
    assert {package: version for package, version in extra.items() if own.get(package, version) != version} == {}


def test_conda_has_the_same_version_bounds() -> None:
    """Only for packages that both have: conda alone has Quarto and compilers, and any MPI is allowed there."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    bounds = {text.partition(">=")[0]: text.partition(">=")[2] for text in declared} | {"python": "3.11"}
    for file in (ROOT / "envs").glob("*.yaml"):
        *listed, last = yaml.safe_load(file.read_text())["dependencies"]
        for text in [*listed, *(last["pip"] if isinstance(last, dict) else [last])]:
            package, _, bound = text.partition(" >=")
            if package not in ("c-compiler", "cxx-compiler", "mpich", "pip", "quarto"):
                assert bounds[package] == bound, f"{file.name}: {text}"


def test_every_call_of_the_page_for_maintainers_exists() -> None:
    page = (ROOT / "docs/maintaining.md").read_text()
    calls = re.findall(r"`([a-z_/]+\.py):(\w+)`", page)
    assert len(calls) >= 10
    for file, name in calls:
        assert re.search(rf"^ *def {name}\(", (PACKAGE / file).read_text(), re.MULTILINE), f"{file}:{name}"


# ---- extending


def blocks(kind: str, heading: str) -> list[str]:
    """The code of one kind under a heading of docs/extending.md."""
    section = re.split(r"^#+ ", (ROOT / "docs/extending.md").read_text(), flags=re.MULTILINE)
    [text] = [part for part in section if part.startswith(f"{heading}\n")]
    return re.findall(rf"^```{kind}\n(.+?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_keys_of_all_experiments_are_those_of_their_settings() -> None:
    section = (ROOT / "docs/extending.md").read_text().partition("have these keys:")[2].partition("\n\n`fewest")[0]
    named = {*re.findall(r"`(\w+)`", section), "fewest_rounds"}
    assert named == {*described(Settings), "arms"}


def test_the_explained_setting_is_a_setting() -> None:
    [text] = blocks("python", "A setting")
    assert isinstance(eval(text, {"advice": advice}), advice.Setting)
