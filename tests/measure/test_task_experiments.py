"""Do the task experiments compute the right numbers? Simulated farms run the tasks."""

import itertools
import os
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from launching import settings

from crossover.config import schema
from crossover.design.arm import Arm
from crossover.design.cell import Cell, Metric
from crossover.design.protocol import label
from crossover.design.settings import TIERS
from crossover.experiments.task_map import driver as task_map
from crossover.experiments.task_scaling import driver as task_scaling
from crossover.experiments.task_throughput import driver as task_throughput
from crossover.farms.ray import STORE_BYTES
from crossover.measure.farms import Farm, Floods, find, tasks
from crossover.measure.farms.tasks import Workload, keys, shares
from crossover.measure.sampling import prelude
from crossover.records.holes import Refusal

ARM = Arm("a", "a")
ALONE = {"reference": "a", "arms": ["a"]}
RATES = (Metric("submission", "tasks/s", "higher"), Metric("round trip", "tasks/s", "higher"))
LASTING_KEYS = {"work": "sleep", "duration_us": 10_000}
SLEEPING = {"work": "sleep", "durations": "equal"}


class Played(Farm):
    """Runs tasks in this process, for simulated times."""

    def __init__(self, submit_seconds=0.0, wait_seconds=0.0, damage=list):
        super().__init__(None, [1, 2], 2)
        self.submit_seconds, self.wait_seconds, self.damage = submit_seconds, wait_seconds, damage
        self.submitted = []

    def submit(self, task, arguments):
        time.sleep(self.submit_seconds)
        self.submitted.append((task, list(arguments)))

    def wait(self):
        time.sleep(self.wait_seconds)
        return self.damage(self.submitted[-1][1])

    def stop(self):
        pass


def floods(experiment, farm=None, turns=1e6, **told):
    """An experiment's floods on one farm."""
    own = settings(experiment.__name__.split(".")[-2], told)
    return Floods({"a": farm or Played()}, experiment.METRICS, lambda cell: experiment.tasks(own, cell, turns))


def mapping(farm=None, tasks_per_engine=2, turns=1e6):
    return floods(task_map, farm, turns, engine_counts=[2], tasks_per_engine=tasks_per_engine)


def scaling(farm=None):
    return floods(task_scaling, farm, engine_counts=[2], tasks_per_engine=4, tasks=4)


# ---- a flood


def two_tasks(cell):
    return Workload(tasks.echo, [1, 2])


def test_submission_ends_with_the_last_submit_and_the_round_trip_with_the_last_result_after_a_prelude(monkeypatch):
    played = []
    monkeypatch.setattr(prelude, "play", lambda keys: (played.append(keys["prelude"]), time.sleep(0.5)))
    block = Floods({"a": Played(0.01, 0.03)}, RATES, two_tasks).run(Cell({"prelude": "pause"}, 2), ARM, 3)
    assert not block.fault and played == ["pause"] * 3
    submitting_seconds = 6 / block.values["submission"]
    assert submitting_seconds >= 0.03
    assert submitting_seconds + 0.09 <= block.seconds < 1.5


@pytest.mark.parametrize(
    "damage", [lambda got: got[:-1], lambda got: [*got, 3], lambda got: got[::-1]], ids=["lost", "more", "disordered"]
)
def test_a_flood_with_wrong_results_is_a_fault_and_the_last(damage):
    farm = Played(damage=damage)
    assert Floods({"a": farm}, RATES, two_tasks).run(Cell({}, 2), ARM, 3).fault
    assert len(farm.submitted) == 1


def test_a_block_with_a_wrong_array_has_a_fault_and_no_value():
    farm = Played(damage=lambda got: [got[0] + 1, *got[1:]])
    block = floods(task_throughput, farm, tasks=4).run(Cell({}, 100), ARM, 1)
    assert (block.fault, block.values) == ("lost or damaged messages", {})


# ---- rates


def test_payload_is_counted_one_way_in_millions_of_bytes():
    farm = Played(0.0, 0.05)
    block = floods(task_throughput, farm, tasks=20).run(Cell({}, 500_000), ARM, 2)
    assert block.values["payload one way"] == pytest.approx(2 * 20 * 0.5 / block.seconds)
    assert block.values["round trip"] == pytest.approx(40 / block.seconds)
    arrays = farm.submitted[0][1]
    assert {(array.dtype, array.nbytes) for array in arrays} == {(np.dtype(np.uint8), 500_000)}
    # Each its own, because some farms send an array once for all tasks of a batch that have it.
    assert len({array.tobytes() for array in arrays}) == 20
    assert len({array.__array_interface__["data"] for array in arrays}) == 20


# ---- efficiency


@pytest.mark.parametrize("blocks", [mapping, scaling])
def test_efficiency_is_one_if_all_engines_work_all_the_time_and_empty_tasks_have_none(blocks):
    # Eight tasks of 10 ms by two engines: 40 ms.
    farm = Played(0.0, 0.04)
    cell = Cell(SLEEPING, 10_000) if blocks is mapping else Cell(LASTING_KEYS, 2)
    lasting = (mapping(farm, tasks_per_engine=4) if blocks is mapping else scaling(farm)).run(cell, ARM, 2)
    assert 0.3 < lasting.values["efficiency"] <= 1
    assert lasting.values["efficiency"] == pytest.approx(2 * 0.04 / lasting.seconds)
    assert lasting.values["round trip"] == pytest.approx(2 * 8 / lasting.seconds)
    empty = scaling(farm).run(Cell({"work": "empty"}, 2), ARM, 3)
    assert empty.values == {"round trip": pytest.approx(3 * 4 / empty.seconds)}


def test_sleeping_tasks_get_seconds_and_spinning_ones_turns():
    farm = Played()
    for work in ("sleep", "spin"):
        mapping(farm, turns=3e6).run(Cell(SLEEPING | {"work": work}, 2000), ARM, 1)
    assert farm.submitted == [(tasks.sleep, [0.002] * 4), (tasks.spin, [6000] * 4)]


@pytest.mark.parametrize("count", [1, 16, 32, 1000])
def test_skewed_durations_have_the_sum_of_equal_ones_and_a_heavy_tail(count):
    equal, skewed = shares("equal", count), shares("skewed", count)
    assert sum(skewed) == pytest.approx(sum(equal)) == pytest.approx(count)
    assert skewed == shares("skewed", count)
    assert count % 16 or max(skewed) < 16, "the longest of sixteen tasks per engine limits no efficiency"
    if count > 1:
        assert max(skewed) > 3 > 1 > sorted(skewed)[count // 2]
        assert skewed != sorted(skewed) and skewed != sorted(skewed, reverse=True)


def chosen(**others):
    wanted = {"durations_us": [1000, 10], "spin_durations_us": [], "work": ["sleep", "spin"]}
    wanted["durations"] = ["equal", "skewed"]
    return settings("task_map", ALONE | wanted | {"engine_counts": [1], "tasks_per_engine": 16} | others)


def test_a_loop_takes_part_only_where_tasks_compute():
    farming = {"arms": ["leastload", "loop", "threads"], "reference": "leastload"}
    cells = task_map.cells(chosen(work=["sleep", "spin"], **farming))
    found = {cell.keys["work"]: {name for name in farming["arms"] if cell.has(Arm(name, name))} for cell in cells}
    assert found == {"sleep": {"leastload", "threads"}, "spin": {"leastload", "loop", "threads"}}


def test_each_kind_of_work_is_a_curve():
    cores = len(os.sched_getaffinity(0))
    assert [(cell.protocol, cell.x) for cell in task_map.cells(chosen(durations=["equal"]))] == [
        (f"tasks {work}, equal durations, engines: 1, tasks per engine: 16, {where}senders: 1, packer: json", x)
        for work, where in (("sleep", ""), ("spin", f"cores: {cores}, "))
        for x in (10, 1000)
    ]
    crowded = chosen(engine_counts=[cores + 1])
    ways = {(cell.keys["work"], cell.keys["durations"]) for cell in task_map.cells(crowded)}
    assert ways == {("sleep", "equal"), ("sleep", "skewed")}, "nothing spins if engines outnumber cores"
    fewer = task_map.cells(chosen(durations=["equal"], spin_durations_us=[100]))
    assert [(cell.keys["work"], cell.x) for cell in fewer] == [("sleep", 10), ("sleep", 1000), ("spin", 100)]


# ---- increasing numbers of engines


def test_the_number_of_engines_is_the_axis_and_no_part_of_a_curves_label_and_engines_spin_only_with_a_core_each():
    cores, told = len(os.sched_getaffinity(0)), ALONE | {"tasks": 128, "tasks_per_engine": 16, "durations_us": [500]}
    curves = {
        "empty tasks, tasks in a flood: 128, senders: 1, packer: json",
        "tasks sleep, 0.5 ms each, tasks per engine: 16, senders: 1, packer: json",
        f"tasks spin, 0.5 ms each, tasks per engine: 16, cores: {cores}, senders: 1, packer: json",
    }
    for engines, most in ((cores, 3), (cores + 1, 2)):
        own = settings("task_scaling", told | {"engine_counts": [engines], "work": ["sleep", "spin"]})
        cells = task_scaling.cells(own)
        assert {cell.protocol for cell in cells} <= curves and len(cells) == most
        assert {cell.x for cell in cells} == {engines}


# ---- farms in a curve's label


@pytest.mark.parametrize("name", ["task_latency", "task_throughput", "task_map", "task_scaling"])
@pytest.mark.parametrize("tier", ["smoke", "quick", "standard", "paper"])
def test_a_task_curves_label_names_its_conditions_and_is_the_same_in_all_launches(name, tier):
    module = __import__(f"crossover.experiments.{name}.driver", fromlist=["cells"])
    every = schema.complete({"tier": tier, "experiments": {name: {}}}).experiments[name].turns()
    for turn in every:
        for cell in module.cells(turn):
            own = cell.keys
            assert own["work"] in ("empty", "echo") or own["tasks_per_engine"] == turn.tasks_per_engine
            # Nor options that an arm's name shows.
            assert (own["senders"], own["packer"]) == (1, "json") and "entrant_options" not in own
            assert name == "task_scaling" or own["engines"] == turn.engine_count()
    counts = len({turn.engine_count() for turn in every}) if name == "task_map" else 1
    ways = {
        (*map(cell.keys.get, ("work", "durations", "duration_us", "prelude")), cell.x)
        for turn in every
        for cell in module.cells(turn)
    }
    assert len({(cell.protocol, cell.x) for turn in every for cell in module.cells(turn)}) == counts * len(ways)


@pytest.mark.parametrize(
    ("entrants", "said"),
    [
        ({}, ""),
        ({"b": {"farm": "ipyparallel", "packer": "msgpack"}}, ", packer of b: msgpack"),
        ({"a": {"farm": "ipyparallel", "hwm": 1}}, ", hwm of a: 1"),
        ({"b": {"farm": "ipyparallel", "packer": "json", "hwm": 0}}, ""),
    ],
)
def test_an_option_that_an_arms_name_does_not_show_is_in_the_curves_label(entrants, said):
    own = settings("task_latency", {"reference": "a", "arms": ["a", "b"], "ceilings": [], "entrants": entrants})
    assert label(keys(own, "empty")) == f"empty tasks, senders: 1, packer: json{said}"


# ---- the tasks


def test_the_speed_of_a_core_comes_from_the_least_disturbed_burst(monkeypatch):
    clock, waits = [0.0], itertools.cycle([0.3, 0.0, 0.2])

    def spin(turns):
        clock[0] += turns / 5e6 + next(waits)

    monkeypatch.setattr(tasks, "spin", spin)
    monkeypatch.setattr(tasks, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    assert tasks.turns_per_second(bursts=9) == pytest.approx(5e6)


# ---- entrants


@pytest.mark.parametrize(
    ("farm", "library", "remedy"),
    [("dask", "distributed", "install it"), ("ray", "ray", "`make env EXTRA=ray` installs it")],
)
def test_a_farm_without_its_library_is_refused_with_the_next_step(monkeypatch, farm, library, remedy):
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"crossover.farms.{farm}.farm", raising=False)
    words = f"the farm {farm} needs {library}, which is not installed; {remedy}, or remove the arms with `farm: {farm}`"
    with pytest.raises(Refusal, match=words) as refused:
        find(farm)
    assert refused.value.kind == "wrong set-up"


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python has such a pool")
def test_interpreters_are_refused_with_the_python_that_they_need():
    with pytest.raises(Refusal, match=r"needs Python 3\.14 or newer;"):
        find("interpreters")


@pytest.mark.parametrize("tier", TIERS)
def test_the_arguments_and_results_of_a_flood_fit_into_rays_store(tier):
    own = schema.complete({"tier": tier}).experiments["task_throughput"]
    flood_bytes = 2 * own.tasks * max(own.sizes_bytes)
    assert flood_bytes < 0.9 * STORE_BYTES
