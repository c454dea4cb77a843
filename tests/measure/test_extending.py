"""Is docs/extending.md enough to add an experiment and a task farm, without other edits?"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from launching import ROOT, eventually

from crossover import experiments, farms
from crossover.cli import new_arm
from crossover.config import schema
from crossover.design.settings import TIERS, Rounds
from crossover.errors import CrossoverError
from crossover.planning import plan
from crossover.records import record

TOYS = Path(__file__).parent / "toys"
EXPERIMENTS, FARMS = "workflow/crossover/experiments", "workflow/crossover/farms"
OURS = (".git", ".venv", "results*", ".snakemake", "__pycache__", "*_cache", ".hypothesis", "site.yaml")
CONFIG, CLAIMS, SOURCES = "config/config.yaml", "config/claims.yaml", "config/sources.yaml"
ENTRANT, SOURCE, CLAIM = re.findall(
    r"^```yaml\n(.+?)^```$", (ROOT / "docs/extending.md").read_text(), re.MULTILINE | re.DOTALL
)
"""The document's examples of them."""

HOLDING = ("tests/documents", "tests/test_architecture.py", "tests/config/test_claim_list.py")
"""Tests that know all experiments, farms or keys, of those that take seconds."""

SNAKEMAKE = ["-m", "snakemake", "--profile", "profiles/local", "-n"]
NEW, FARM, ARM = "halves_once_more", "threads_once_more", "in quarters"
TAKEN = (NEW, "mpi_pingpong", "report", "plan")
EXPERIMENT, OF_FARM = f"{EXPERIMENTS}/{NEW}/__init__.py", f"{FARMS}/{FARM}/__init__.py"
CHOSEN = """\
# A user's.
tier: standard  # to rely on
experiments:  # those of interest
    # Messages.
    zmq_latency: {launches: 4}
    handover:
"""


class Project:
    """A copy of the whole project, with tests and documents."""

    def __init__(self, folder):
        self.folder = folder
        shutil.copytree(ROOT, folder, symlinks=True, ignore=shutil.ignore_patterns(*OURS))

    def run(self, *words):
        """Run Python in it, with its own package; returns the exit code and the output."""
        # Kept bytecode has the second of the source: of two edits in one second, the first would count.
        environment = os.environ | {"PYTHONPATH": str(self.folder / "workflow"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return done.returncode, done.stdout

    def edit(self, file, old, new):
        """Replace a text that occurs once."""
        text = (self.folder / file).read_text()
        assert text.count(old) == 1
        (self.folder / file).write_text(text.replace(old, new))


def with_toys(project):
    """Add the toys by the steps in the document."""
    shutil.copytree(TOYS / "handover", project.folder / "workflow/crossover/experiments/handover")
    for part in (ROOT / "workflow/skeleton/farm").iterdir():
        threads = project.folder / FARMS / "toy_threads" / part.name
        threads.parent.mkdir(exist_ok=True)
        threads.write_text(part.read_text().replace("NAME", "toy_threads"))
    return project


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy with the toys."""
    return with_toys(Project(tmp_path_factory.mktemp("toys") / "project"))


@pytest.fixture
def settings(project, monkeypatch):
    """The settings of an experiment in the copy: the defaults, except these."""
    monkeypatch.setattr(experiments, "__path__", [*experiments.__path__, str(project.folder / EXPERIMENTS)])
    monkeypatch.setattr(farms, "__path__", [*farms.__path__, str(project.folder / FARMS)])
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


def test_the_toys_are_small():
    lines = {file.name: len(file.read_text().splitlines()) for file in (TOYS / "handover").iterdir() if file.is_file()}
    # Plus a line in config.yaml.
    assert sum(lines.values()) + 1 <= 130
    assert set(lines) == {"__init__.py", "driver.py", "page.md"}


# ---- the experiment


@pytest.mark.parametrize("imports", ["", "from mpi4py import MPI\n"], ids=["as it is", "by a driver that imports MPI"])
def test_a_driver_starts_a_child_process_without_mpi(project, settings, launch, imports):
    driver = project.folder / EXPERIMENTS / "handover/driver.py"
    driver.write_text(imports + (TOYS / "handover/driver.py").read_text())
    one = launch("handover", plan.launch(settings("handover"), "handover", "process", 1).settings, root=project.folder)
    assert one.run() == 0
    arms = {row["arm"] for row in one.rows if row["value"]}
    assert arms == {"pipe", "socket pair", "shared memory", "null"}, one.facts
    assert one.facts["wall_seconds"] < 60
    one.leaves_nothing_but_its_file()


@pytest.mark.parametrize("end", ["the supervisor is interrupted", "the driver is killed"])
def test_a_child_process_ends_with_its_launch_however_it_ends(project, settings, launch, end):
    own = plan.launch(settings("handover"), "handover", "process", 1).settings
    own = replace(own, budget_seconds=1000, rounds=Rounds(10**6, 3), target_width=1e-9)
    one = launch("handover", own, root=project.folder)
    one.start()
    assert eventually(lambda: one.ranks() and len(one.processes()) > 4)
    if end == "the driver is killed":
        one.ranks()[0].kill()
        assert one.process.wait(60) == 0
    else:
        one.process.send_signal(signal.SIGINT)
        assert one.process.wait(60) == 1
    one.leaves_nothing_but_its_file()


@pytest.mark.skipif(not find_spec("pynng"), reason="pip install pynng, which no part of the project needs")
def test_another_librarys_experiment_is_one_folder_and_records_its_version(project, settings, launch):
    shutil.copytree(TOYS / "nng_latency", project.folder / EXPERIMENTS / "nng_latency")
    own = plan.launch(settings("nng_latency"), "nng_latency", "node", 1).settings
    one = launch("nng_latency", own, root=project.folder)
    assert one.run() == 0
    assert {row["arm"] for row in one.rows if row["value"]} == {"pyzmq", "pynng", "null"}
    assert "pynng" in json.loads(record.metadata(one.table)["ranks"][0]["libraries"])
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
def test_a_mistake_in_a_declaration_is_a_line_with_its_file(extended, file, right, wrong, mistake):
    extended.edit(file, right, wrong)
    try:
        # Snakemake asks the same function.
        for command in (["-m", "crossover", "document"], *([SNAKEMAKE] if "Axes" in wrong else [])):
            code, said = extended.run(*command)
            (line,) = (line for line in said.splitlines() if mistake in line)
            assert code == 1 and "__init__.py" in line and "Traceback" not in said
            assert file == OF_FARM or file in line
    finally:
        extended.edit(file, wrong, right)


def test_a_settings_arm_must_be_one_of_its_experiment():
    known = experiments.of("local_transport")
    wrong = replace(known, recommends=(replace(known.recommends[0], default="Queues"),))
    with pytest.raises(ValueError, match="arm of the setting 'Pipe or Queue': 'Queues' does not exist; available: Zer"):
        wrong.require_sane()


# ---- the entrant


def test_an_entrant_is_one_file_with_its_options_packages_and_hosts(project, settings, launch):
    listed = ENTRANT.replace("my_farm", "toy_threads")
    chosen = settings("task_latency", **yaml.safe_load(listed)).experiments["task_latency"]
    assert plan.in_placement(chosen, "nodes").arms == ("leastload", "pure")
    own = replace(chosen.within("node"), arms=("bare zmq", "my farm"), reference="bare zmq", ceilings=(), engines=1)
    own = replace(own.of_launch(), rounds=Rounds(30, 3), budget_seconds=0.5)
    one = launch("task_latency", own, root=project.folder)
    assert one.run() == 0
    assert {row["arm"] for row in one.rows if row["value"]} == {"bare zmq", "my farm", "null"}
    assert "psutil" in json.loads(record.metadata(one.table)["ranks"][0]["libraries"])
    with pytest.raises(CrossoverError, match="threads_per_engine: Input should be a valid integer"):
        settings("task_latency", **yaml.safe_load(listed.replace("2}", "two}")))


# ---- the command, and a project that a user has extended and configured


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """A copy with the toys, an experiment with another arm and a farm from the command, a claim, and changes in
    config.yaml."""
    project = with_toys(Project(tmp_path_factory.mktemp("extended") / "project"))
    (project.folder / CONFIG).write_text(CHOSEN)
    code, said = project.run("-m", "crossover", "new", "experiment", NEW)
    assert code == 0, said
    code, said = project.run("-m", "crossover", "new", "arm", NEW, ARM)
    assert code == 0, said
    file, line = re.search(r"^  (\S+):(\d+): what one block of it does$", said, re.MULTILINE).groups()
    assert f'if arm.runs == "{ARM}":' in (project.folder / file).read_text().splitlines()[int(line) - 1]
    assert f"{ARM}`" in (project.folder / "config/README.md").read_text()
    code, said = project.run("-m", "crossover", "new", "farm", FARM)
    assert code == 0 and f"such as task_latency: {{arms: [leastload, pure, {FARM}]}}" in said, said
    assert f"## `{NEW}`" in (project.folder / "config/README.md").read_text()
    project.edit(CLAIMS, "\nclaims:\n", "\nclaims:\n" + textwrap.indent(CLAIM, "  ").replace("message_halves", NEW))
    with (project.folder / SOURCES).open("a") as sources:
        sources.write(f"\n{SOURCE}")
    written = "wrote config/README.md, docs/experiments.md, reports/references.bib\n"
    assert project.run("-m", "crossover", "document") == (0, written)
    return project


@pytest.mark.parametrize("name", [NEW, pytest.param(FARM, marks=pytest.mark.long)])
def test_what_the_command_has_written_passes_lint_and_its_own_test(extended, name):
    code, said = extended.run("-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/measure/test_{name}.py")
    assert code == 0, said
    for check in (("ruff", "check"), ("ruff", "format", "--check")):
        code, said = extended.run("-m", *check, f"tests/measure/test_{name}.py", *written(extended, name))
        assert code == 0, said


@pytest.mark.long
def test_the_types_of_what_the_command_has_written_are_right(extended):
    code, said = extended.run("-m", "mypy", *written(extended, NEW), *written(extended, FARM))
    assert code == 0, said


def written(project, name):
    """The Python files of an experiment or a farm."""
    return [str(path) for folder in (EXPERIMENTS, FARMS) for path in (project.folder / folder).glob(f"{name}/*.py")]


def test_a_claim_is_checked_against_what_the_new_experiment_measures(extended):
    check = "from crossover.config import claim_list; claim_list.read()"
    assert extended.run("-c", check) == (0, "")
    right = (extended.folder / CLAIMS).read_text()
    extended.edit(CLAIMS, "arm: halves", "arm: thirds")
    assert f"quantity.arm: 'thirds' does not exist; available: whole, halves, {ARM}" in extended.run("-c", check)[1]
    (extended.folder / CLAIMS).write_text(right)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_an_extended_and_configured_project_passes_the_general_tests(extended):
    code, said = extended.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *HOLDING)
    assert code == 0, said


def test_the_files_keep_their_comments_and_list_the_experiment(extended):
    listed = CHOSEN.replace("    # Messages", f"    {NEW}: {{}}\n    # Messages")
    assert (extended.folder / CONFIG).read_text() == listed


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        *((name, "is the name of an experiment, a rule or a test already; choose another") for name in TAKEN),
        ("two-words", "cannot name a module; use small letters, digits and _, such as socket_options"),
        ("class", "cannot name a module; use small letters, digits and _, such as socket_options"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused_in_a_line(extended, name, reason):
    before = {file: file.read_bytes() for file in extended.folder.glob("config/*") if file.is_file()}
    assert extended.run("-m", "crossover", "new", "experiment", name) == (1, f"crossover new: {name!r} {reason}\n")
    farm = reason.replace("an experiment, a rule", "a farm")
    if name not in ("mpi_pingpong", "report"):
        asked = FARM if name == NEW else name
        assert extended.run("-m", "crossover", "new", "farm", asked) == (1, f"crossover new: {asked!r} {farm}\n")
    assert {file: file.read_bytes() for file in before} == before


# ---- a new arm


@pytest.mark.parametrize("name", ["local_transport", "array_transfer", "async_cost", "mpi_collectives", "mpi_pingpong"])
def test_a_new_arm_is_written_into_every_list_of_its_experiment(name):
    texts, _ = new_arm.add(name, "nng ipc")
    declaration, driver = (compile(text, str(file), "exec") for file, text in texts.items())
    assert driver
    exec(declaration, made := {"__name__": f"crossover.experiments.{name}"})
    assert made["EXPERIMENT"].names("arms") == (*experiments.of(name).names("arms"), "nng ipc")
    for tier in TIERS:
        before = experiments.of(name).tiers.at(tier)
        assert made["EXPERIMENT"].tiers.at(tier).arms == (*before.arms, "nng ipc")


@pytest.mark.parametrize(
    ("name", "arm", "reason"),
    [
        (
            "zmq_latency",
            "nng",
            r"shared or computed, so nothing was written.*design/zeromq.py:\d+: OneOf\(HANDOVERS\),\n",
        ),
        ("zmq_message_size", "nng", r"__init__.py:\d+: settings.OneOf\(tuple\(BUILT\)\),.*driver.py:\d+: def run\("),
        ("task_latency", "nng", "are task farms: crossover new farm NAME writes one"),
        ("local_transport", "Pipe", "is an arm or ceiling of local_transport already"),
        ("local_transport", "memcpy", "is an arm or ceiling of local_transport already"),
        ("local_transport", 'a"b', "cannot name an arm"),
        ("another", "nng", "unknown experiment 'another'"),
    ],
)
def test_an_arm_that_cannot_be_written_is_refused_with_what_to_do(name, arm, reason):
    with pytest.raises(CrossoverError) as refused:
        new_arm.add(name, arm)
    assert re.search(reason, str(refused.value), re.DOTALL), refused.value
