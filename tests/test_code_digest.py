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


def test_every_experiment_has_a_digest_of_its_own(package):
    assert len(set(digests(package).values())) == len(EXPERIMENTS) + 1 >= 4


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_driver_affects_only_its_own_launches(package, name):
    assert concerned(package, f"experiments/{name}/driver.py") == {name}


def test_every_file_of_a_drivers_folder_affects_its_launches(package):
    (package / "experiments/task_latency/child.py").write_text("")
    assert concerned(package, "experiments/task_latency/child.py") == {"task_latency"}


@pytest.mark.parametrize(
    ("old", "new", "affected"),
    [
        ("title=", "title='Another ' ", set()),
        ("place=60", "place=61", set()),
        ("The axis, the number", "The axis: the number", set()),
        ('Axis("tasks", "tasks")', 'Axis("tasks", "empty tasks")', {"task_latency"}),
        ('"submission", "tasks/s"', '"submission", "tasks/h"', {"task_latency"}),
    ],
)
def test_of_a_declaration_only_what_a_raw_file_stores_affects_launches(package, old, new, affected):
    declaration = package / "experiments/task_latency/__init__.py"
    text = declaration.read_text()
    assert text.count(old) == 1
    before = digests(package)
    declaration.write_text(text.replace(old, new))
    after = digests(package)
    assert {name for name in after if after[name] != before[name]} == {*affected, "analysis"}


@pytest.mark.parametrize(
    "module",
    [
        *("sampling/sampler", "sampling/contract", "launch/rank", "launch/supervisor", "launch/host_lock"),
        *("launch/starter", "native/loader", "ranks/ending", "ranks/log", "ranks/peers", "ranks/provenance"),
    ],
)
def test_modules_that_every_launch_imports_affect_all_launches_but_not_the_analysis(package, module):
    assert concerned(package, f"measure/{module}.py") == set(EXPERIMENTS)


def test_a_farm_affects_the_launches_in_which_it_takes_part(package):
    assert concerned(package, "farms/zmq_echo/farm.py") == FARMING
    assert concerned(package, "farms/ipyparallel/farm.py") == set()


def test_launches_with_different_farms_have_different_digests(package):
    assert of_launch(code_digest, "task_latency", "dask") != of_launch(code_digest, "task_latency", "ipyparallel")


def test_a_launch_between_engines_but_not_between_plain_ranks_depends_on_the_farm(package):
    config = schema.complete({"experiments": {"mpi_pingpong": {"players": ["rank", "engine"]}}})
    launches = [plan.launch(config, "mpi_pingpong", "node", number) for number in (1, 2)]

    def told():
        module = fresh(package)
        return [module.of_launch("mpi_pingpong", each.settings.entrants) for each in launches]

    before = told()
    edit(package / "farms" / "ipyparallel" / "farm.py")
    assert [digest == earlier for digest, earlier in zip(told(), before, strict=True)] == [True, False]


def test_a_ceiling_concerns_the_experiments_that_use_it(package):
    assert concerned(package, "measure/native/ceiling_raw.py") == {"local_transport", "mpi_pingpong"}


def test_how_the_ceilings_are_built_concerns_no_launch_but_through_what_was_built(package):
    assert concerned(package, "measure/native/compiler.py") == set()


def test_the_sizes_of_inline_messages_affect_only_their_experiment(package):
    assert concerned(package, "measure/native/message_struct.py") == {"zmq_message_size"}


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


def test_the_analysis_affects_no_launch(package):
    assert concerned(
        package, "analyse/tables/writer.py", "analyse/estimates/intervals.py", "analyse/estimates/crossover.py"
    ) == {"analysis"}


def test_the_report_the_session_and_the_command_line_affect_neither(package):
    others = [*package.glob("report/**/*.py"), *package.glob("cli/*.py")]
    others += [package / "workflow/session.py", package / "__main__.py", package / "code_digest.py"]
    assert concerned(package, *(path.relative_to(package) for path in others)) == set()


def test_the_record_affects_everything(package):
    assert concerned(package, "records/record.py") == {*EXPERIMENTS, "analysis"}


def test_a_touch_affects_nothing(package):
    before = digests(package)
    for file in package.rglob("*.py"):
        file.touch()
    assert digests(package) == before


def test_undoing_an_edit_restores_the_digest(package):
    file = package / "measure/sampling/sampler.py"
    before, source = digests(package), file.read_text()
    edit(file)
    file.write_text(source)
    assert digests(package) == before


IMPORTS = {
    "import crossover.deep.leaf": True,
    "import crossover.deep.leaf as other": True,
    "import json, crossover.deep.leaf": True,
    "from crossover.deep import leaf": True,
    "from crossover.deep.leaf import VALUE": True,
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
