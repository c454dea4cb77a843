"""Do the arrows between the wings point the way they are drawn?"""

import ast
import os
import subprocess
import sys
from functools import cache

import pytest

from crossover.closure import PACKAGE

CORRIDOR = {
    *("plan", "schema", "site", "record", "room", "closure", "session", "admission", "refusals", "forecast", "sweep"),
    *("inventory", "demand", "subject", "typed", "failure", "outcome", "claimed", "published", "sources", "document"),
    *("__main__", "__init__"),
}
WINGS = {"measure", "analyse", "report"}
DOCTOR = "doctor"
"""What looks into the wings and is known by none."""
SHARE = "share"
"""What carries results and pages out; it knows the page that it carries, and nobody knows it."""
COMMANDS = "commands"
"""The command line, which knows everybody, and which nobody knows."""
SHARED = {"failure", "plan", "published", "record", "room", "sources"}
"""What a wing may import beside itself."""


def modules(folder=""):
    """Every module under a folder of the package, by its dotted name within the package."""
    return {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in (PACKAGE / folder).rglob("*.py")
    }


MODULES = modules()


def exists(name):
    return bool(name) and (name in MODULES or f"{name}.__init__" in MODULES)


@cache
def imported(name):
    """The modules of ours that a module imports anywhere in it, by their names within the package."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}: a relative import, which the digest of the code would not follow"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {full for full in inner if exists(full.removeprefix("crossover."))} or {node.module}
    return {full.removeprefix("crossover.") for full in found if full.startswith("crossover.")}


def test_there_are_three_wings_and_a_corridor():
    assert {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"} == WINGS | {
        DOCTOR,
        SHARE,
        COMMANDS,
    }
    assert {path.stem for path in PACKAGE.glob("*.py")} == CORRIDOR


def test_the_imports_are_seen_at_all():
    assert "record" in imported("measure.conduct")
    assert "measure.farms" in imported("measure.experiments.task_latency")
    assert "measure.launch" in imported("commands.measuring")


@pytest.mark.parametrize("name", ["refusals", "plan", "sources", "record", "closure", "room", "session"])
def test_the_corridor_imports_nothing_of_ours(name):
    assert imported(name) == set()


def test_published_numbers_know_the_documents_that_they_are_from_and_nothing_else():
    assert imported("published") == {"sources"}


@pytest.mark.parametrize("name", [name for name in MODULES if name.split(".")[0] in WINGS])
def test_a_wing_imports_the_corridor_and_itself(name):
    wing = name.split(".")[0]
    assert {other for other in imported(name) if other not in SHARED and other.split(".")[0] != wing} == set()


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("doctor.")])
def test_the_doctor_looks_into_wings_but_knows_nothing_of_what_is_measured(name):
    wings = {other for other in imported(name) if not other.startswith("doctor.")}
    assert {other for other in wings if other.split(".")[0] not in WINGS | {"session", "refusals"}} == set()
    assert not [other for other in wings if other.startswith(("measure.experiments", "measure.farms"))]


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("share.")])
def test_what_is_shared_is_a_page_and_files_whatever_was_measured(name):
    others = {other for other in imported(name) if not other.startswith("share.") and other != "share"}
    assert others <= {"failure", "plan", "record", "report", "report.origin", "report.render"}
    assert "share.publish" not in imported(name) or name == "share.publish"


@pytest.mark.parametrize("name", [name for name in MODULES if name.split(".")[0] not in (SHARE, COMMANDS)])
def test_nobody_else_knows_what_is_shared(name):
    assert {other for other in imported(name) if other.startswith("share")} == set()


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("doctor.checks.")])
def test_a_check_starts_no_launch_and_prints_no_findings(name):
    assert imported(name) & {"doctor.launching", "doctor.conclude", "doctor.rank"} == set()


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("measure.experiments.")])
def test_an_experiment_knows_the_block_contract_peers_farms_ceilings_and_no_other_experiment(name):
    contract = {"blocks", "peers", "channel", "native", "farms", "tasks", "workload", "conditions", "libzmq.inline"}
    known = contract | {"sockets", "handover", "flood", "flow", "burst", "peak_memory", "payload", "roundtrips"}
    others = imported(name) - {"plan"} - {f"measure.{each}" for each in known}
    assert {other for other in others if not other.startswith("measure.ceilings")} == set()


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("measure.farms.")])
def test_a_farm_knows_no_experiment_and_no_engine(name):
    known = {"measure.peers", "measure.death", "measure.server", "measure.tasks", "measure.farms", "plan"}
    known |= {"measure.conditions", "measure.ports", "measure.tunnel"}
    assert imported(name) <= known


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("measure.ceilings")])
def test_a_ceiling_knows_where_its_library_is_and_nothing_else_of_ours(name):
    assert imported(name) <= {"measure.native", "measure.ceilings"}


def test_the_engine_knows_nothing_of_messages():
    assert imported("measure.sampler") == {"plan", "measure.blocks"}
    assert imported("measure.blocks") == {"plan"}


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("measure.") and name.count(".") == 1])
def test_outside_its_folder_no_experiment_is_known_by_name(name):
    assert not [
        other
        for other in imported(name)
        if other.startswith(("measure.experiments.", "measure.farms", "measure.ceilings"))
    ]


@pytest.mark.parametrize("name", MODULES)
def test_nobody_imports_the_command_line(name):
    groups = {other for other in imported(name) if other.split(".")[0] == COMMANDS}
    assert "__main__" not in imported(name)
    assert not groups or name == "__main__" or groups == {"commands.parser"}


def test_the_command_line_loads_no_wing_before_a_command_runs():
    named = "import crossover.__main__, sys; print(*(name for name in sys.modules if name.startswith('crossover.')))"
    done = subprocess.run(
        [sys.executable, "-c", named], env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)}, stdout=subprocess.PIPE
    )
    loaded = {name.split(".")[1] for name in done.stdout.decode().split()}
    assert loaded == {"__main__", COMMANDS}


@pytest.mark.parametrize("name", MODULES)
def test_every_import_of_ours_is_of_something_that_exists(name):
    assert {other for other in imported(name) if not exists(other)} == set()
