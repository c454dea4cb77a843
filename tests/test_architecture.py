"""Does the code follow docs/architecture.md: rooms of at most a dozen files, imports one way, no cycle?"""

import ast
import os
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter

import pytest

from crossover.paths import PACKAGE

DRIVERS = "experiments.*"
FARMS = "farms.*"
"""The rooms of all drivers and of all farms: their folders without the declarations, which are in the rooms
`experiments` and `farms`."""

ROOMS = {
    "design": "",
    "records": "design",
    "slurm": "",
    "experiments": "design",
    "farms": "design",
    FARMS: "farms measure.farms measure.ranks records",
    "planning": "design records",
    "config": "design planning records slurm",
    "measure.native": "records",
    "measure.ranks": "design records",
    "measure.sampling": "design",
    "measure.messages": "design measure.native measure.ranks measure.sampling",
    "measure.farms": "design measure.ranks measure.sampling records",
    DRIVERS: "design experiments measure.farms measure.messages measure.native measure.ranks measure.sampling records",
    "measure.launch": "design measure.native measure.ranks measure.sampling planning records",
    "analyse.estimates": "design records",
    "analyse.tables": "analyse.estimates design planning records",
    "analyse.claims": "analyse.estimates config design records",
    "report.text": "config design planning records",
    "report.charts": "config design records report.text",
    "report.tournament": "records report.charts report.text",
    "report.pages": "config design records report.charts report.text report.tournament",
    "query": "analyse.estimates analyse.tables config design records report.charts report.text report.tournament",
    "share": "records report.pages",
    "workflow": "config design doctor measure.ranks planning records report.pages slurm",
    "doctor": "measure.launch measure.ranks records slurm",
}
"""Every room, with the rooms that it may import, from the bottom up. `cli` may import all."""

GROUND = {"code_digest", "errors", "paths", "programs"}
"""Modules that every room may import."""

DOZEN, LINES = 12, 500
"""The maximum number of modules of a room, and of lines of a module."""

OPEN = (DRIVERS, FARMS, "experiments", "farms")
"""Rooms to which users add files; they may have more."""

MODULES = {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in PACKAGE.rglob("*.py")}


def exists(name):
    return name in MODULES or f"{name}.__init__" in MODULES


def room(name):
    """The room of a module, or a room itself."""
    folder, _, module = name.rpartition(".") if name in MODULES else (name, "", "")
    kind, _, within = folder.partition(".")
    if kind in ("experiments", "farms") and within:
        return f"{kind}.*" if module and module != "__init__" else kind
    return folder


def driver(name):
    """The driver to which a module belongs; empty if it belongs to none."""
    return name.split(".")[1] if name.startswith("experiments.") and name != "experiments.__init__" else ""


@cache
def imported(name):
    """Our modules that a module imports, anywhere in it, by their names within the package."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}: the digest of the code does not follow relative imports"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {full for full in inner if exists(full.removeprefix("crossover."))} or {node.module}
    return {full.removeprefix("crossover.") for full in found if full.startswith("crossover.")}


def within(folder):
    """The modules of a room and of those below it."""
    return [name for name in MODULES if name.startswith(f"{folder}.")]


def test_the_imports_are_seen():
    assert "records.record" in imported("measure.launch.conduct")
    assert "measure.farms" in imported("experiments.task_latency.driver")
    assert "measure.launch" in {room(other) for other in imported("cli.measuring")}


def test_every_module_is_in_a_room():
    outside = {"__init__", "__main__", *GROUND}
    parts = {"measure", "analyse", "report"}
    assert {room(name) for name in MODULES if name not in outside} == {*ROOMS, *parts, "cli"}
    assert {name for name in MODULES if room(name) in parts} == {f"{part}.__init__" for part in parts}


def test_a_room_imports_only_allowed_rooms():
    for name in MODULES:
        if (own := room(name)) in ROOMS:
            rooms = {room(other) for other in imported(name) - GROUND} - {own}
            assert rooms <= set(ROOMS[own].split()), name


def test_a_room_imports_every_room_that_it_may():
    for own, allowed in ROOMS.items():
        used = {room(other) for name in MODULES if room(name) == own for other in imported(name)}
        assert set(allowed.split()) <= used, own


def test_there_is_no_cycle():
    TopologicalSorter({own: set(allowed.split()) for own, allowed in ROOMS.items()}).prepare()
    TopologicalSorter({name: imported(name) for name in MODULES}).prepare()


def test_rooms_are_small_and_describe_their_contents():
    for own in ROOMS:
        here = [name for name in MODULES if room(name) == own]
        assert own in OPEN or len(here) <= DOZEN, own
        assert own in (DRIVERS, FARMS) or ast.get_docstring(ast.parse(MODULES[f"{own}.__init__"].read_text())), own


def test_modules_are_short():
    workflow = PACKAGE.parent
    code = [*MODULES.values(), *workflow.rglob("*.[ch]"), *workflow.rglob("*.smk"), workflow.parent / "Snakefile"]
    assert {path.name for path in code if len(path.read_text().splitlines()) > LINES} == set()


def nameless(call):
    """Whether a call reads or writes text in the encoding of the locale."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    words = {word.arg: getattr(word.value, "value", None) for word in call.keywords}
    texts = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    of_module = getattr(getattr(call.func, "value", None), "id", "") in ("os", "packed", "tarfile", "tokenize")
    opens = name == "open" and not of_module and not any("b" in mode for mode in texts if set(mode) <= set("rwaxbt+"))
    return "encoding" not in words and (name in ("read_text", "write_text") or opens or words.get("text") is True)


def test_text_is_read_and_written_as_utf_8_whatever_the_locale():
    for path in PACKAGE.parent.rglob("*.py"):
        calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
        assert [(path.name, call.lineno) for call in calls if nameless(call)] == []


def test_every_imported_module_of_ours_exists():
    assert {(name, other) for name in MODULES for other in imported(name) if not exists(other)} == set()


def test_measuring_analysing_and_reporting_meet_only_in_files():
    for part in ("measure", "analyse", "report"):
        others = {other.partition(".")[0] for name in within(part) for other in imported(name)}
        assert others <= {part, "design", "records", "planning", "config", *GROUND}, part
    assert {other for name in within("analyse") + within("report") for other in imported(name)} >= {"records.record"}


def test_the_sampler_knows_nothing_of_messages():
    known = {name for name in imported("measure.sampling.sampler") if not name.startswith("design.")}
    assert known == {"measure.sampling.contract"}
    assert imported("measure.sampling.contract") == {"design.arm", "design.cell"}


def test_an_experiment_knows_no_other_experiment_and_nobody_knows_it_by_name():
    for name in MODULES:
        assert {driver(other) for other in imported(name)} <= {"", driver(name)}, name


@pytest.mark.parametrize("kind", ["farms", "native.ceiling"])
def test_only_experiments_know_farms_and_ceilings(kind):
    for name in MODULES:
        if not name.startswith((f"measure.{kind}", "experiments", "farms")):
            assert not [other for other in imported(name) if other.startswith(f"measure.{kind}")], name


def test_the_doctor_starts_no_launch_and_knows_no_experiment():
    for name in within("doctor"):
        assert not [other for other in imported(name) if other.startswith(("experiments", "farms", "measure.farms"))]


def test_nobody_imports_the_command_line():
    for name in MODULES:
        groups = {other for other in imported(name) if other.startswith("cli") and not name.startswith("cli.")}
        assert "__main__" not in imported(name)
        assert not groups or name == "__main__", name


def test_the_command_line_loads_no_wing_before_a_command_runs():
    named = "import crossover.__main__, sys; print(*(name for name in sys.modules if name.startswith('crossover.')))"
    done = subprocess.run(
        [sys.executable, "-c", named], env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)}, stdout=subprocess.PIPE
    )
    loaded = {name.split(".")[1] for name in done.stdout.decode().split()}
    assert loaded == {"__main__", "cli", "errors"}
