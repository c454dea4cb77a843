"""Do the task experiments compute the right numbers? Simulated farms run the tasks."""

import itertools
import os
import time
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from launching import settings

from crossover.config import schema
from crossover.design.arm import Arm
from crossover.design.cell import Cell, Metric
from crossover.design.protocol import label
from crossover.design.settings import TIERS
from crossover.experiments.task_latency import driver as task_latency
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


def test_submission_ends_with_the_last_submit_and_the_round_trip_with_the_last_result():
    block = Floods({"a": Played(0.01, 0.03)}, RATES, two_tasks).run(Cell({}, 2), ARM, 3)
    assert not block.fault
    submitting_seconds = 6 / block.values["submission"]
    assert submitting_seconds >= 0.03
    assert block.seconds >= submitting_seconds + 0.09


def test_each_flood_has_its_prelude_outside_the_timed_part(monkeypatch):
    played = []
    monkeypatch.setattr(prelude, "play", lambda keys: (played.append(keys["prelude"]), time.sleep(0.1)))
    block = Floods({"a": Played(0.0, 0.0)}, RATES, two_tasks).run(Cell({"prelude": "pause"}, 2), ARM, 3)
    assert played == ["pause"] * 3 and block.seconds < 0.1


@pytest.mark.parametrize(
    "damage", [lambda got: got[:-1], lambda got: [*got, 3], lambda got: got[::-1]], ids=["lost", "more", "disordered"]
)
def test_a_flood_with_wrong_results_is_a_fault_and_the_last(damage):
    farm = Played(damage=damage)
    assert Floods({"a": farm}, RATES, two_tasks).run(Cell({}, 2), ARM, 3).fault
    assert len(farm.submitted) == 1


@pytest.mark.parametrize(
    ("blocks", "cell"),
    [
        (partial(floods, task_latency), Cell({}, 4)),
        (partial(floods, task_throughput, tasks=4), Cell({}, 100)),
        (mapping, Cell(SLEEPING, 100)),
        (scaling, Cell({"work": "empty"}, 2)),
    ],
    ids=["latency", "throughput", "map", "scaling"],
)
def test_a_block_with_a_wrong_result_has_a_fault_and_no_value(blocks, cell):
    block = blocks(Played(damage=lambda got: [got[0] + 1, *got[1:]])).run(cell, ARM, 1)
    assert (block.fault, block.values) == ("lost or damaged messages", {})


# ---- rates


def test_payload_is_counted_one_way_in_millions_of_bytes():
    farm = Played(0.0, 0.05)
    block = floods(task_throughput, farm, tasks=20).run(Cell({}, 500_000), ARM, 2)
    assert block.values["payload one way"] == pytest.approx(2 * 20 * 0.5 / block.seconds)
    assert block.values["round trip"] == pytest.approx(40 / block.seconds)
    (array, *others) = farm.submitted[0][1]
    assert array.dtype == np.uint8 and array.nbytes == 500_000 and len(others) == 19


def test_every_task_has_an_array_of_its_own():
    """Some farms send an array once for all tasks of a batch that have it."""
    farm = Played()
    floods(task_throughput, farm, tasks=20).run(Cell({}, 1000), ARM, 1)
    arrays = farm.submitted[0][1]
    assert len({array.tobytes() for array in arrays}) == 20
    assert len({array.__array_interface__["data"] for array in arrays}) == 20


# ---- efficiency


def test_efficiency_is_one_if_all_engines_work_all_the_time():
    # Eight tasks of 10 ms by two engines: 40 ms.
    block = mapping(Played(0.0, 0.04), tasks_per_engine=4).run(Cell(SLEEPING, 10_000), ARM, 2)
    assert 0.3 < block.values["efficiency"] <= 1
    assert block.values["efficiency"] == pytest.approx(2 * 0.04 / block.seconds)
    assert block.values["round trip"] == pytest.approx(2 * 8 / block.seconds)


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
    if count > 1:
        assert max(skewed) > 3 > 1 > sorted(skewed)[count // 2]
        assert skewed != sorted(skewed) and skewed != sorted(skewed, reverse=True)


@pytest.mark.parametrize("engines", [1, 2, 8])
def test_the_longest_of_sixteen_skewed_tasks_per_engine_does_not_limit_the_efficiency(engines):
    assert max(shares("skewed", 16 * engines)) < 16


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
    fewer = task_map.cells(chosen(durations=["equal"], spin_durations_us=[100]))
    assert [(cell.keys["work"], cell.x) for cell in fewer] == [("sleep", 10), ("sleep", 1000), ("spin", 100)]


def test_nothing_spins_if_engines_outnumber_cores():
    crowded = chosen(engine_counts=[len(os.sched_getaffinity(0)) + 1])
    ways = {(cell.keys["work"], cell.keys["durations"]) for cell in task_map.cells(crowded)}
    assert ways == {("sleep", "equal"), ("sleep", "skewed")}


# ---- increasing numbers of engines


def scaled(engines, **others):
    told = {"engine_counts": [engines], "tasks": 128, "tasks_per_engine": 16}
    return settings("task_scaling", ALONE | told | others)


def test_the_number_of_engines_is_the_axis_and_no_part_of_a_curves_label():
    few, many = (scaled(engines=engines, work=["sleep"], durations_us=[500, 10_000]) for engines in (1, 64))
    curves = [
        "empty tasks, tasks in a flood: 128, senders: 1, packer: json",
        "tasks sleep, 0.5 ms each, tasks per engine: 16, senders: 1, packer: json",
        "tasks sleep, 10 ms each, tasks per engine: 16, senders: 1, packer: json",
    ]
    assert [(cell.protocol, cell.x) for cell in task_scaling.cells(few)] == [(curve, 1) for curve in curves]
    assert [(cell.protocol, cell.x) for cell in task_scaling.cells(many)] == [(curve, 64) for curve in curves]


def test_engines_spin_only_if_each_has_a_core():
    cores = len(os.sched_getaffinity(0))
    spinning = {"work": ["sleep", "spin"], "durations_us": [500]}
    enough, crowded = (task_scaling.cells(scaled(engines=engines, **spinning)) for engines in (cores, cores + 1))
    assert f"tasks spin, 0.5 ms each, tasks per engine: 16, cores: {cores}" in [cell.protocol for cell in enough][-1]
    assert [(cell.keys["work"], cell.keys.get("duration_us")) for cell in crowded] == [("empty", None), ("sleep", 500)]


def test_tasks_that_last_have_the_efficiency_of_all_engines_and_empty_ones_none():
    blocks = scaling(Played(0.0, 0.04))
    # Eight tasks of 10 ms by two engines: 40 ms.
    lasting = blocks.run(Cell(LASTING_KEYS, 2), ARM, 2)
    assert lasting.values["efficiency"] == pytest.approx(2 * 0.04 / lasting.seconds)
    assert lasting.values["round trip"] == pytest.approx(2 * 8 / lasting.seconds)
    empty = blocks.run(Cell({"work": "empty"}, 2), ARM, 3)
    assert empty.values == {"round trip": pytest.approx(3 * 4 / empty.seconds)}


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
            assert (own["senders"], own["packer"]) == (1, "json") and "entrant_options" not in own
            assert name == "task_scaling" or own["engines"] == turn.engine_count()
    counts = len({turn.engine_count() for turn in every}) if name == "task_map" else 1
    ways = {
        (*map(cell.keys.get, ("work", "durations", "duration_us", "prelude")), cell.x)
        for turn in every
        for cell in module.cells(turn)
    }
    assert len({(cell.protocol, cell.x) for turn in every for cell in module.cells(turn)}) == counts * len(ways)


def test_quick_maps_as_many_tasks_per_engine_as_the_published_notebook():
    assert schema.complete({"tier": "quick"}).experiments["task_map"].tasks_per_engine == 16


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


def test_an_option_that_an_arms_name_shows_is_not_repeated():
    shipped = schema.complete({"tier": "paper"})
    assert keys(shipped.experiments["task_latency"], "empty") == {"work": "empty", "senders": 1, "packer": "json"}


# ---- the tasks


def test_every_task_returns_its_argument():
    array = np.arange(3)
    assert tasks.echo(array) is array
    assert (tasks.sleep(0.001), tasks.spin(5)) == (0.001, 5)


def test_the_speed_of_a_core_comes_from_the_least_disturbed_burst(monkeypatch):
    clock, waits = [0.0], itertools.cycle([0.3, 0.0, 0.2])

    def spin(turns):
        clock[0] += turns / 5e6 + next(waits)

    monkeypatch.setattr(tasks, "spin", spin)
    monkeypatch.setattr(tasks, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    assert tasks.turns_per_second(bursts=9) == pytest.approx(5e6)


# ---- entrants


def test_a_farm_without_its_library_is_refused_with_the_next_step(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    monkeypatch.delitem(__import__("sys").modules, "crossover.farms.dask.farm", raising=False)
    with pytest.raises(Refusal, match=r"the farm dask needs distributed.*remove the arms with `farm: dask`"):
        find("dask")


@pytest.mark.parametrize("tier", TIERS)
def test_the_arguments_and_results_of_a_flood_fit_into_rays_store(tier):
    own = schema.complete({"tier": tier}).experiments["task_throughput"]
    flood_bytes = 2 * own.tasks * max(own.sizes_bytes)
    assert flood_bytes < 0.9 * STORE_BYTES
