"""Is docs/extending.md enough to add an experiment and a task farm, without other edits?"""

import os
import re
import shutil
import signal
import sys
import textwrap
from dataclasses import replace

import pytest
import yaml
from copies import ROOT, Project
from launching import eventually

import crossover.experiments
import crossover.farms
from crossover.config import schema
from crossover.design import experiments, farms
from crossover.design.arm import arms_of
from crossover.design.settings import Rounds
from crossover.errors import CrossoverError
from crossover.planning import plan
from crossover.records import record

EXPERIMENTS, FARMS = "workflow/crossover/experiments", "workflow/crossover/farms"
OURS = (".git", ".venv", "results*", ".snakemake", "__pycache__", "*_cache", ".hypothesis", "site.yaml")
CONFIG, CLAIMS, SOURCES = "config/config.yaml", "config/claims.yaml", "config/sources.yaml"
ENTRANT, SOURCE, CLAIM = re.findall(
    r"^```yaml\n(.+?)^```$", (ROOT / "docs/extending.md").read_text(), re.MULTILINE | re.DOTALL
)
"""The document's examples of them."""

CODE = re.findall(r"^```python\n(.+?)^```$", (ROOT / "docs/extending.md").read_text(), re.MULTILINE | re.DOTALL)
"""Its examples of an experiment, with a fragment on processes, of a farm, and of a setting."""

HOLDING = ("tests/documents", "tests/test_architecture.py", "tests/config/test_claim_list.py")
"""Tests that know all experiments, farms or keys, of those that take seconds."""

SNAKEMAKE = ["-m", "snakemake", "--profile", "profiles/local", "-n"]
NEW, FARM = "message_halves", "my_farm"
EXPERIMENT, OF_FARM = f"{EXPERIMENTS}/{NEW}/__init__.py", f"{FARMS}/{FARM}/__init__.py"
CHOSEN = """\
# A user's.
tier: standard  # to rely on
experiments:  # those of interest
    # Messages.
    zmq_latency: {launches: 4}
    local_transport:
    message_halves: {}
"""


class Whole(Project):
    """A copy of the whole project, with tests and documents, whose commands are those of Python with its package."""

    limit_seconds = 500

    def environment(self):
        # Kept bytecode has the second of the source: of two edits in one second, the first would count.
        return os.environ | {"PYTHONPATH": str(self.folder / "workflow"), "PYTHONDONTWRITEBYTECODE": "1"}

    def command(self, *command):
        return [sys.executable, *command]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy with the document's experiment, farm and claim, and a user's configuration."""
    project = Whole(tmp_path_factory.mktemp("extended") / "project")
    shutil.copytree(ROOT, project.folder, symlinks=True, ignore=shutil.ignore_patterns(*OURS))
    farm = next(number for number, text in enumerate(CODE) if "FARM = " in text)
    driver = next(number for number, text in enumerate(CODE) if "perf_counter" in text)
    files = {
        EXPERIMENT: "\n\n".join(CODE[:driver]),
        f"{EXPERIMENTS}/{NEW}/driver.py": "\n\n".join(CODE[driver : driver + 4]),
        f"{EXPERIMENTS}/{NEW}/page.md": "Bytes go to another rank and back, as one message or as two halves. " * 2,
        OF_FARM: CODE[farm],
        f"{FARMS}/{FARM}/farm.py": CODE[farm + 1],
        CONFIG: CHOSEN,
    }
    for file, text in files.items():
        (project.folder / file).parent.mkdir(exist_ok=True)
        (project.folder / file).write_text(text)
    project.edit(CLAIMS, "\nclaims:\n", "\nclaims:\n" + textwrap.indent(CLAIM, "  "))
    with (project.folder / SOURCES).open("a") as sources:
        sources.write(f"\n{SOURCE}")
    written = "wrote config/README.md, docs/experiments.md, reports/references.bib\n"
    assert project.run("-m", "crossover", "document") == (0, written)
    assert f"## `{NEW}`" in (project.folder / "config/README.md").read_text()
    return project


@pytest.fixture
def settings(project, monkeypatch):
    """The settings of an experiment in the copy: the defaults, except these."""
    for package, folder in ((crossover.experiments, EXPERIMENTS), (crossover.farms, FARMS)):
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(project.folder / folder)])
    forget()

    def of(experiment, **chosen):
        return schema.complete({"tier": "smoke", "experiments": {experiment: {}}} | chosen)

    yield of
    forget()


def forget():
    """Read the declarations again."""
    experiments.declared.cache_clear()
    experiments.of.cache_clear()
    farms.declared.cache_clear()
    schema._whole_model.cache_clear()


# ---- the experiment


def test_the_documents_experiment_measures_every_arm(project, settings, launch):
    own = plan.launch(settings(NEW), NEW, "node", 1).settings
    one = launch(NEW, own, root=project.folder)
    assert one.run() == 0
    assert {row["arm"] for row in one.rows if row["value"]} == {arm.name for arm in arms_of(own)}, one.facts
    one.leaves_nothing_but_its_file()


@pytest.fixture
def with_child(project, settings):
    """A launch's settings; the driver imports MPI, and its child does nothing for its own end."""
    driver = f"{EXPERIMENTS}/local_transport/driver.py"
    for change in (("import os\n", "import os\nfrom mpi4py import MPI\n"), ("begin(started)", "started.release()")):
        project.edit(driver, *change)
    yield plan.launch(settings("local_transport"), "local_transport", "process", 1).settings
    shutil.copy(ROOT / driver, project.folder / driver)


def test_a_driver_starts_a_child_process_without_mpi(project, with_child, launch):
    one = launch("local_transport", with_child, root=project.folder)
    assert one.run() == 0
    arms = {row["arm"] for row in one.rows if row["value"]}
    assert arms == {*with_child.arms, "null"}, one.facts
    assert one.facts["wall_seconds"] < 60
    one.leaves_nothing_but_its_file()


@pytest.mark.parametrize("end", ["the supervisor is interrupted", "the driver is killed"])
def test_a_child_process_ends_with_its_launch_however_it_ends(project, with_child, launch, end):
    endless = replace(with_child, budget_seconds=1000, rounds=Rounds(10**6, 3), target_width=1e-9)
    one = launch("local_transport", endless, root=project.folder)
    one.start()
    assert eventually(lambda: one.ranks() and len(one.processes()) > 4)
    if end == "the driver is killed":
        one.ranks()[0].kill()
        assert one.process.wait(60) == 0
    else:
        one.process.send_signal(signal.SIGINT)
        assert one.process.wait(60) == 1
    one.leaves_nothing_but_its_file()


@pytest.mark.parametrize(
    ("file", "right", "wrong", "mistake"),
    [
        (EXPERIMENT, '"object": [', '"objekt": [', "smoke: key: 'objekt' does not exist; available: library_version, "),
        (
            EXPERIMENT,
            "metrics=METRICS,",
            'metrics=METRICS, leading_metric="found trip",',
            "smoke: metric: 'found trip' does not exist; available: round trip",
        ),
        (
            EXPERIMENT,
            '"s", "lower")',
            '"s", "less")',
            "direction of the metric 'round trip': 'less' does not exist; avail",
        ),
        (EXPERIMENT, "axis=Axis(", "axis=Axes(", "name 'Axes' is not defined"),
        (
            EXPERIMENT,
            'settings.REFERENCE] = "whole"',
            'settings.REFERENCE] = "hole"',
            "smoke: arm: 'hole' does not exist; available: whole, halves",
        ),
        (
            EXPERIMENT,
            "    launches=3,\n",
            '    launches=3,\n    placements=("process",),\n',
            "smoke: placements: 'process' does not exist; available: node, nodes",
        ),
        (OF_FARM, f'{{"{FARM}": {{}}}}', '{"threads": {}}', "the arm 'threads' belongs to the farm "),
        (
            OF_FARM,
            f'{{"{FARM}": {{}}}}',
            f'{{"{FARM}": {{"thread": 2}}}}',
            "it has no option 'thread'; available: threads_per_",
        ),
        (OF_FARM, "one_host=True", 'one_host="near"', "it has no option 'near'; available: threads_per_engine"),
    ],
)
def test_a_mistake_in_a_declaration_is_a_line_with_its_file(project, file, right, wrong, mistake):
    project.edit(file, right, wrong)
    try:
        # Snakemake asks the same function.
        for command in (["-m", "crossover", "document"], *([SNAKEMAKE] if "Axes" in wrong else [])):
            code, said = project.run(*command)
            (line,) = (line for line in said.splitlines() if mistake in line)
            assert code == 1 and "__init__.py" in line and "Traceback" not in said
            assert file == OF_FARM or file in line
    finally:
        project.edit(file, wrong, right)


def test_a_settings_arm_must_be_one_of_its_experiment():
    known = experiments.of("local_transport")
    wrong = replace(known, recommends=(replace(known.recommends[0], default="Queues"),))
    with pytest.raises(ValueError, match="arm of the setting 'Pipe or Queue': 'Queues' does not exist; available: Zer"):
        wrong.require_sane()


# ---- the entrant


def test_an_entrant_is_one_file_with_its_options_packages_and_hosts(project, settings, launch):
    chosen = settings("task_latency", **yaml.safe_load(ENTRANT)).experiments["task_latency"]
    assert plan.in_placement(chosen, "nodes").arms == ("leastload", "pure")
    own = replace(chosen.within("node"), arms=("bare zmq", "my farm"), reference="bare zmq", ceilings=(), engines=1)
    own = replace(own.of_launch(), rounds=Rounds(30, 3), budget_seconds=0.5)
    one = launch("task_latency", own, root=project.folder)
    assert one.run() == 0
    assert {row["arm"] for row in one.rows if row["value"]} == {"bare zmq", "my farm", "null"}
    assert "psutil" in record.metadata(one.table)["ranks"][0]["libraries"]
    with pytest.raises(CrossoverError, match="threads_per_engine: Input should be a valid integer"):
        settings("task_latency", **yaml.safe_load(ENTRANT.replace("2}", "two}")))


def test_a_claim_is_checked_against_what_the_new_experiment_measures(project):
    check = "from crossover.config import claim_list; claim_list.read()"
    assert project.run("-c", check) == (0, "")
    right = (project.folder / CLAIMS).read_text()
    project.edit(CLAIMS, "arm: halves", "arm: thirds")
    assert "quantity.arm: 'thirds' does not exist; available: whole, halves" in project.run("-c", check)[1]
    (project.folder / CLAIMS).write_text(right)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_an_extended_and_configured_project_passes_the_general_tests(project):
    code, said = project.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *HOLDING)
    assert code == 0, said
