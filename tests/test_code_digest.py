"""Does an edit rerun exactly the launches that it affects?"""

import importlib.util
import shutil
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from crossover import code_digest
from crossover.config import schema
from crossover.design import experiments
from crossover.paths import NATIVE
from crossover.planning import plan

EXPERIMENTS = experiments.names()
FARMING = {name for name in EXPERIMENTS if experiments.declared()[name].farming}
ANALYSING = ("crossover.analyse.tables.writer",)


@pytest.fixture
def package(tmp_path):
    """A copy of the package that tests may edit."""
    return shutil.copytree(code_digest.PACKAGE, tmp_path / "crossover", ignore=shutil.ignore_patterns("__pycache__"))


def fresh(package):
    """The copy's module code_digest, newly loaded, because it remembers sources."""
    spec = importlib.util.spec_from_file_location("copied_closure", package / "code_digest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.PACKAGE = package
    return module


def digests(package):
    """The digest of every experiment's launches, and of the analysis."""
    copy = fresh(package)
    return {name: of_launch(copy, name) for name in EXPERIMENTS} | {"analysis": copy.digest(*ANALYSING)}


def of_launch(module, experiment, farm="zmq_echo"):
    """The digest of a launch; in an experiment with farms, of a launch with this farm."""
    return module.of_launch(experiment, {"any": {"farm": farm}} if experiment in FARMING else {})


def edit(file, text="\nEDITED = True\n"):
    file.write_text(file.read_text() + text)


def concerned(package, *files):
    """The experiments, and the analysis, whose digest changes when `files` are edited."""
    before = digests(package)
    for file in files:
        edit(package / file)
    after = digests(package)
    return {name for name in before if before[name] != after[name]}


def test_a_copy_elsewhere_has_the_same_digests(package):
    assert digests(package) == {name: of_launch(code_digest, name) for name in EXPERIMENTS} | {
        "analysis": code_digest.digest(*ANALYSING)
    }


OF_EVERY_LAUNCH = (
    *("sampling/sampler", "sampling/contract", "launch/rank", "launch/supervisor", "launch/host_lock"),
    *("launch/starter", "native/loader", "ranks/ending", "ranks/log", "ranks/peers", "ranks/provenance"),
)


@pytest.mark.parametrize(
    ("file", "affected"),
    [
        *((f"measure/{module}.py", set(EXPERIMENTS)) for module in OF_EVERY_LAUNCH),
        *((f"experiments/{name}/driver.py", {name}) for name in EXPERIMENTS),
        # A farm affects the launches in which it takes part, here zmq_echo.
        ("farms/zmq_echo/farm.py", FARMING),
        ("farms/ipyparallel/farm.py", set()),
        ("measure/native/ceiling_raw.py", {"local_transport", "mpi_pingpong"}),
        ("measure/native/message_struct.py", {"zmq_message_size"}),
        # A launch depends on the ceilings that were built, not on how.
        ("measure/native/compiler.py", set()),
        *((f"analyse/{module}.py", {"analysis"}) for module in ("tables/writer", "estimates/intervals")),
        ("records/record.py", {*EXPERIMENTS, "analysis"}),
    ],
)
def test_a_module_affects_the_launches_and_the_analysis_that_import_it_and_nothing_else(package, file, affected):
    assert concerned(package, file) == affected


def test_a_launch_between_engines_but_not_between_plain_ranks_depends_on_the_farm(package):
    config = schema.complete({"experiments": {"mpi_pingpong": {"players": ["rank", "engine"]}}})
    launches = [plan.launch(config, "mpi_pingpong", "node", number) for number in (1, 2)]

    def told():
        module = fresh(package)
        return [module.of_launch("mpi_pingpong", each.settings.entrants) for each in launches]

    before = told()
    edit(package / "farms" / "ipyparallel" / "farm.py")
    assert [digest == earlier for digest, earlier in zip(told(), before, strict=True)] == [True, False]


def test_how_libzmq_is_built_concerns_no_launch_and_no_driver_concerns_the_builds(package):
    assert concerned(package, "measure/native/libzmq.py") == set()
    before = fresh(package).digest("crossover.measure.native.libzmq")
    edit(package / "experiments" / "zmq_message_size" / "driver.py")
    assert fresh(package).digest("crossover.measure.native.libzmq") == before
    edit(package / "measure/native/libzmq.py")
    assert fresh(package).digest("crossover.measure.native.libzmq") != before


def chosen(**experiments):
    return schema.complete({"results": "there", "experiments": experiments})


def test_the_libraries_of_a_launch_are_those_of_its_ceilings_without_duplicates():
    ceilings = ["raw TCP", "C", "raw Unix socket"]
    assert plan.libraries(chosen(mpi_pingpong={"ceilings": ceilings}), "mpi_pingpong") == [
        "there/native/mpi_exchange.so",
        "there/native/stream_pingpong.so",
    ]


def test_without_ceilings_no_library_is_needed():
    assert plan.libraries(chosen(mpi_pingpong={"ceilings": []}), "mpi_pingpong") == []
    assert plan.libraries(chosen(task_latency={}), "task_latency") == []


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_ceiling_has_a_source(name):
    for ceiling in experiments.declared()[name].names("ceilings"):
        config = schema.complete({"results": "there", "experiments": {name: {"ceilings": [ceiling]}}})
        [library] = plan.libraries(config, name)
        assert (NATIVE / Path(library).with_suffix(".c").name).is_file()


@pytest.mark.parametrize("init", ["measure/__init__.py", "experiments/__init__.py"])
def test_a_packages_init_file_affects_every_launch(package, init):
    assert concerned(package, init) >= set(EXPERIMENTS)


def test_a_module_reached_only_through_a_package_counts(package):
    edit(package / "measure" / "farms" / "__init__.py", "\nfrom crossover.measure.farms import hidden\n")
    (package / "measure" / "farms" / "hidden.py").write_text("SPEED = 1\n")
    assert concerned(package, "measure/farms/hidden.py") == FARMING | {"mpi_pingpong", "own_message"}


def test_the_report_the_session_and_the_command_line_affect_neither(package):
    others = [*package.glob("report/**/*.py"), *package.glob("cli/*.py")]
    others += [package / "workflow/session.py", package / "__main__.py", package / "code_digest.py"]
    assert concerned(package, *(path.relative_to(package) for path in others)) == set()


def test_undoing_an_edit_restores_the_digest(package):
    file = package / "measure/sampling/sampler.py"
    before, source = digests(package), file.read_text()
    edit(file)
    file.write_text(source)
    assert digests(package) == before


IMPORTS = {
    "import crossover.deep.leaf as other": True,
    "import json, crossover.deep.leaf": True,
    "from crossover.deep import leaf": True,
    "def later():\n    from crossover.deep.leaf import VALUE": True,
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import crossover.deep.leaf": True,
    "from crossover import deep": False,
    "import deep.leaf": False,
    "import crossover_deep.leaf": False,
    "TEXT = 'import crossover.deep.leaf'": False,
}


@pytest.mark.parametrize("statement", IMPORTS)
def test_every_form_of_import_is_followed_and_nothing_else(package, statement):
    (package / "deep").mkdir()
    (package / "deep" / "__init__.py").touch()
    leaf = package / "deep" / "leaf.py"
    leaf.write_text("VALUE = 1\n")
    (package / "root.py").write_text(statement + "\n")
    before = fresh(package).digest("crossover.root")
    edit(leaf)
    assert (fresh(package).digest("crossover.root") != before) is IMPORTS[statement]


def test_a_cycle_of_imports_is_followed_once(package):
    names = ["one", "two", "three", "one"]
    for name, other in pairwise(names):
        (package / f"{name}.py").write_text(f"from crossover import {other}\n")
    circle = fresh(package).digest("crossover.one")
    assert circle == fresh(package).digest("crossover.three")
    edit(package / "two.py")
    assert fresh(package).digest("crossover.one") != circle


def test_each_source_is_read_once_however_many_launches_there_are(package, monkeypatch):
    copy, used = fresh(package), Counter()

    def counting(name):
        method = getattr(Path, name)
        return lambda path, *rest: used.update([(name, path)]) or method(path, *rest)

    for name in ("read_bytes", "is_file", "glob"):
        monkeypatch.setattr(Path, name, counting(name))
    for _ in range(100):
        for experiment in EXPERIMENTS:
            of_launch(copy, experiment)
    assert {name for name, _ in used} == {"read_bytes", "is_file", "glob"}
    assert set(used.values()) == {1}


def test_a_renamed_module_changes_the_digest(package):
    (package / "one.py").write_text("VALUE = 1\n")
    (package / "two.py").write_text("VALUE = 1\n")
    assert fresh(package).digest("crossover.one") != fresh(package).digest("crossover.two")
