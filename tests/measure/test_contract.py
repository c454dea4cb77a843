"""Does a launch of every experiment, in real processes, follow its settings and leave nothing but the raw file?"""

import json
import math
from collections import Counter, defaultdict
from dataclasses import replace

import pytest
import zmq
from launching import COMMON, Launch

from crossover.config import schema
from crossover.design.arm import arms_of
from crossover.design.experiments import declared
from crossover.design.settings import Rounds
from crossover.experiments.own_message import TO_CHILD
from crossover.measure.launch import driver
from crossover.measure.messages.handover import NEIGHBOURHOOD
from crossover.measure.ranks import provenance
from crossover.measure.sampling.sampler import SELDOM, VISITS
from crossover.planning import plan
from crossover.records import record

SHORT = COMMON | {"rounds": Rounds(**COMMON["rounds"])}
FAST = {"arms": ["bare zmq", "threads"], "reference": "bare zmq", "ceilings": [], "placements": ["node"]}
"""Farms that start fast; the tests of farms run all others."""

LASTING = {"work": ["sleep", "spin"], "durations_us": [1000], "tasks_per_engine": 4, "engine_counts": [1]}
BOTH = ["PUSH/PULL", "REQ/REP"]
CHANGED = {
    "zmq_throughput": {
        "sizes_bytes": [100, 20000],
        "curves": ["DEALER/ROUTER over ipc, polled", "PUSH/PULL over tcp"],
        "placements": ["node"],
        "ceilings": ["C copy", "C no-copy"],
        "lead_in_seconds": 0.002,
        # Few, because each message is slow when threads of one process wait for the interpreter and a processor.
        "in_flight_messages": 40,
        "in_flight_bytes": 1000000,
        "burst_seconds": 0.002,
        "burst_bytes": 1000000,
    },
    "zmq_latency": {
        "sizes_bytes": [100, 20000],
        "curves": ["REQ/REP over ipc, legacy", "REQ/REP over tcp"],
        "placements": ["node"],
        "trips_per_repetition": 100,
    },
    "zmq_bursts": {"messages": [1, 30], "burst_bytes": 1000000, "curves": ["PUSH/PULL over tcp"]},
    "zmq_message_size": {"sizes_bytes": [8, 4096], "scan_bytes": 1, "in_flight_bytes": 1000000, "patterns": BOTH},
    "array_transfer": {
        "curves": [
            *("REQ/REP over tcp, float64 array", "REQ/REP over ipc, float64 array", "REQ/REP over ipc, DataFrame"),
            "REQ/REP over ipc, dict of arrays",
        ],
        "container_sizes_bytes": [10000],
    },
    "local_transport": {"sizes_bytes": [1, 200000]},
    "mpi_pingpong": {
        "elements": [1000],
        "objects": ["float64 array", "float64 array, re-sent", "bytes", "dict", "list of floats"],
        "ceilings": ["C", "raw TCP", "raw Unix socket", "memcpy"],
    },
    "mpi_collectives": {"elements": [1, 1000]},
    "task_latency": FAST | {"arms": ["bare zmq", "leastload"], "tasks": [2, 8], "preludes": ["none"], "engines": 1},
    "task_throughput": FAST | {"tasks": 5, "engines": 1},
    "task_map": FAST | LASTING,
    "task_scaling": FAST | LASTING | {"tasks": 5},
    "task_program": {"tasks": [2], "arms": ["loop", "threads", "concurrent.futures"], "work": ["empty", "spin"]},
    "own_message": {"counts": [1, 3], "arms": [*TO_CHILD, "ZeroMQ pickle", "mpi4py send", "msgpack", "JSON"]},
    "own_task": {"item_counts": [1, 3], "arms": ["loop", "threads"], "engines": 1},
}
"""What differs from the smoke tier, where this makes a launch shorter, or its arms and curves more."""

VARIANTS = {
    "zmq_throughput in one process": {"curves": ["PUSH/PULL over inproc"], "placements": ["process"]},
    "zmq_latency in one process": {"curves": ["REQ/REP over inproc"], "placements": ["process"]},
    "mpi_pingpong between engines": {"players": ["engine"]},
}
OWN = "tests/measure/own_work.py"
"""The user's file of experiments on one."""

BUILT = {"zmq_message_size": {"arms": ["40 B struct", "64 B struct"]}}
"""Only builds that other tests need too; all other experiments are measured with every arm that they know."""

ON_ONE_HOST = [name for name, each in sorted(declared().items()) if "node" in each.tiers.smoke.placements]

DISTURBED = {"ok", "steal time", "throttled", "swapped"}
"""The possible validities of a sane block on a machine with other users."""


def settings_of(case):
    """The settings of a case's launch."""
    name = case.split()[0]
    arms = declared()[name].names("arms")
    chosen = ({"arms": [*arms]} if arms else {}) | BUILT.get(name, {}) | CHANGED.get(name, {}) | VARIANTS.get(case, {})
    config = schema.complete({"tier": "smoke", "experiments": {name: chosen}, "own": OWN})
    settings = plan.launch(config, name, config.experiments[name].placements[0], 1).settings
    return replace(settings, **{key: value for key, value in SHORT.items() if key != "placement"})


class Measured:
    """A finished launch, with the contents of its file."""

    def __init__(self, case, launch, code):
        self.case, self.launch, self.code, self.name = case, launch, code, case.split()[0]
        self.settings, self.declared = launch.settings, declared()[self.name]
        self.rows = launch.rows
        self.metadata = record.metadata(launch.table)
        self.log = launch.log.read_text(encoding="utf-8")
        self.cells = {(cell.protocol, cell.x): cell for cell in driver.find(self.name).cells(self.settings)}
        self.has_bursts = self.name == "zmq_bursts" or any("DEALER" in curve for curve, _ in self.cells)

    def blocks(self):
        """One row per block, in the order in which they ran."""
        every = {row["start_ns"]: row for row in self.rows}
        return [every[start] for start in sorted(every)]


@pytest.fixture(
    scope="module",
    params=[*ON_ONE_HOST, *(pytest.param(case, marks=pytest.mark.long) for case in VARIANTS)],
)
def measured(request, tmp_path_factory):
    built = request.getfixturevalue("variants" if request.param == "zmq_message_size" else "libraries")
    folder = tmp_path_factory.mktemp(request.param.replace(" ", "-"))
    libraries = list(built.iterdir())
    launch = Launch(folder, request.param.split()[0], settings_of(request.param), libraries=libraries)
    try:
        yield Measured(request.param, launch, launch.run())
    finally:
        launch.end()


def test_the_launch_is_measured_and_leaves_nothing_but_its_file(measured):
    launch = measured.metadata["launch"]
    assert (measured.code, launch["outcome"], launch.get("hole")) == (0, "measured", None), measured.log
    assert "done in" in measured.log
    assert measured.log.count(", stopped by ") == len(measured.cells)
    assert f"visit {VISITS * len(measured.cells)} of {VISITS * len(measured.cells)} " in measured.log
    measured.launch.leaves_nothing_but_its_file()


def test_every_round_of_a_cell_has_every_arm(measured):
    cells = defaultdict(list)
    for row in measured.blocks():
        cells[row["protocol"], row["x"]].append(row)
    assert {*cells} == {*measured.cells}
    arms = arms_of(measured.settings)
    assert {row["arm"] for row in measured.rows} == {arm.name for arm in arms}
    for place, rows in cells.items():
        taking_part = [arm for arm in arms if measured.cells[place].has(arm)]
        every = range(1 + max(row["round"] for row in rows))
        assert len(every) >= 3
        # A rival that takes far longer than the reference runs as seldom as a ceiling.
        seen = Counter(row["arm"] for row in rows)
        assert seen[measured.settings.reference] == seen["null"] == len(every)
        seldom = {arm.name for arm in taking_part if arm.ceiling or seen[arm.name] < len(every)}
        present = {at: [arm.name for arm in taking_part if not (arm.name in seldom and at % SELDOM)] for at in every}
        assert Counter((row["round"], row["arm"]) for row in rows) == {
            (at, arm): 1 for at in every for arm in present[at]
        }
        assert Counter((row["round"], row["position"]) for row in rows) == {
            (at, position): 1 for at in every for position in range(len(present[at]))
        }
        assert {row["stop"] for row in rows} <= {"width", "budget", "rounds"}


def test_every_block_is_sane_and_has_a_value_for_every_metric(measured):
    assert {row["validity"] for row in measured.rows} <= DISTURBED
    assert all(math.isfinite(row["value"]) and row["value"] > 0 for row in measured.rows)
    # Flows have no overstatement, nor do bursts of one message, because these have no window.
    absent = set() if measured.has_bursts else {"overstatement"}
    absent |= set() if provenance.watch_peak_memory()() else {"peak memory"}
    assert {(row["metric"], row["unit"], row["better"]) for row in measured.rows} == {
        (metric.name, metric.unit, metric.better) for metric in measured.declared.metrics if metric.name not in absent
    }
    counted = defaultdict(Counter)
    for row in measured.rows:
        if not row["ceiling"] and row["metric"] != "overstatement":
            counted[row["protocol"]][row["metric"]] += 1
    for protocol, metrics in counted.items():
        blocks = sum(row["protocol"] == protocol and not row["ceiling"] for row in measured.blocks())
        assert {*metrics.values()} == {blocks}
    axis = measured.declared.axis
    assert {(row["axis"], row["axis_unit"]) for row in measured.rows} == {(axis.name, axis.unit)}
    assert all(row["n"] >= 1 and row["block_seconds"] > 0 for row in measured.rows)


def test_only_the_null_arm_repeats_the_reference(measured):
    reference = measured.settings.reference
    assert {(row["arm"], row["runs"]) for row in measured.rows if row["is_null_arm"]} == {("null", reference)}
    assert all(row["arm"] == row["runs"] for row in measured.rows if not row["is_null_arm"])
    assert {row["reference"] for row in measured.rows} == {reference}


def test_no_two_blocks_ran_at_the_same_time(measured):
    rows = measured.blocks()
    ends = [row["start_ns"] + 1e9 * row["block_seconds"] for row in rows]
    assert all(end <= row["start_ns"] for end, row in zip(ends, rows[1:], strict=False))


def test_values_follow_from_the_repetitions_and_time_of_their_block(measured):
    settings = measured.settings

    def repetitions(row):
        match measured.name:
            case "task_latency" | "own_task" | "zmq_bursts":
                return row["n"] * row["x"]
            case "zmq_latency":
                return row["n"] * settings.trips_per_repetition
            case "task_throughput":
                return row["n"] * settings.tasks
            case "task_map" | "task_scaling":
                return row["n"] * (settings.tasks if "empty" in row["protocol"] else settings.tasks_per_engine)
        return row["n"]

    def rate(row):
        return repetitions(row) / row["block_seconds"]

    expected = {
        "throughput": rate,
        "bandwidth": lambda row: rate(row) * row["x"] / 1e6,
        "whole program": lambda row: row["block_seconds"] / row["n"],
        "call": lambda row: 1 / rate(row),
        "round trip": rate if measured.declared.farming else lambda row: 1 / rate(row),
    }
    compared = [row for row in measured.rows if row["metric"] in expected]
    assert compared
    for row in compared:
        assert row["value"] == pytest.approx(expected[row["metric"]](row), rel=1e-6)


def test_percentiles_rise_and_the_mean_is_plausible(measured):
    blocks = defaultdict(dict)
    for row in (row for row in measured.rows if not row["ceiling"]):
        blocks[row["start_ns"]][row["metric"]] = row["value"]
    names = [f"round trip, {which}" for which in ("median", "95th percentile", "99th percentile")]
    for block in blocks.values() if measured.name == "zmq_latency" else []:
        low, middle, high = (block[name] for name in names)
        assert low <= middle <= high
        assert block["round trip"] > 0.5 * low


def test_the_window_of_the_published_protocol_overstates_rates(measured):
    every = [row["value"] for row in measured.rows if row["metric"] == "overstatement"]
    assert bool(every) == measured.has_bursts
    assert all(times > 1 for times in every)


def test_the_file_names_its_launch_settings_and_code(measured):
    launch, settings = measured.metadata["launch"], measured.settings
    assert (launch["experiment"], launch["placement"], launch["launch"]) == (measured.name, settings.placement, 1)
    assert json.loads(launch["settings"]) == settings.stored
    assert launch["code"] == "c0de"
    assert 0 < launch["timed_seconds"] < launch["wall_seconds"]
    assert 0 < launch["meeting_seconds"] < launch["wall_seconds"]
    phases = launch["phases"]
    assert min(phases.values()) >= 0 and launch["meeting_seconds"] + sum(phases.values()) < launch["wall_seconds"]
    blocks = sum(phases.get(name, 0) for name in ("arms", "null arm", "ceilings"))
    assert blocks == pytest.approx(launch["timed_seconds"], abs=0.01)
    # Gathering adds `file` and `receipt`; the other columns belong to holes and to batch jobs.
    absent = {"file", "receipt", "hole", "reason", "hosts", "job", "queued_seconds", "entering_seconds"} | {"exclusive"}
    assert set(record.LAUNCHES.names) - set(launch) == absent


def test_every_rank_has_recorded_its_facts(measured):
    ranks = measured.metadata["ranks"]
    assert [rank["rank"] for rank in ranks] == list(range(measured.settings.ranks))
    for rank in ranks:
        assert set(rank) == set(record.RANKS.names)
        assert rank["host"] and rank["cpu"] and rank["kernel"] and rank["affinity"]
        assert "mpi4py" in rank["libraries"]
        assert "thread level" in rank["mpi"]


@pytest.mark.parametrize("name", ["zmq_throughput", "zmq_latency", "mpi_pingpong"])
def test_an_arm_takes_part_where_it_is_possible_and_differs_from_all_others(name):
    """A list cannot be sent as a buffer. A message of several parts, or one that is forwarded, cannot be received into
    a reused buffer. memcpy needs two buffers, and a re-sent array is one.
    """

    def takes_part(arm, protocol, x):
        if arm.runs == "default":
            return x > zmq.COPY_THRESHOLD / NEIGHBOURHOOD
        if arm.runs == "memcpy":
            return "re-sent" not in protocol
        if arm.runs == "recv-into" or (arm.ceiling and "over" in protocol):
            return "DEALER" not in protocol and "legacy" not in protocol
        if arm.runs in ("Send into new array", "pkl5.send in band", "pkl5.send out of band"):
            return protocol.startswith("float64 array")
        return arm.runs not in ("Send", "persistent") or protocol.startswith(("float64 array", "bytes"))

    settings = settings_of(name)
    for cell in driver.find(name).cells(settings):
        for arm in arms_of(settings):
            assert cell.has(arm) == takes_part(arm, cell.protocol, cell.x), (cell.protocol, cell.x, arm.name)
