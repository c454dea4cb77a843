"""Do the experiments, in real processes, follow their settings and leave nothing but the raw file?"""

import json
import math
from collections import Counter

import pytest
import zmq
from launching import COMMON, Launch

from crossover import experiments
from crossover.design.arm import arms_of
from crossover.experiments.mpi_pingpong import PLAYING
from crossover.measure.messages.handover import NEIGHBOURHOOD
from crossover.measure.ranks import provenance
from crossover.measure.sampling.sampler import SELDOM
from crossover.records import record

ZEROMQ = COMMON | {
    "sizes_bytes": [100, 20000],
    "arms": ["copy", "no-copy", "default", "recv-into"],
    "reference": "copy",
}
SETTINGS = {
    "zmq_throughput": ZEROMQ
    | {
        "curves": ["DEALER/ROUTER over ipc, polled", "PUSH/PULL over tcp", "PUSH/PULL over inproc"],
        "ceilings": ["C copy", "C no-copy"],
        "lead_in_seconds": 0.002,
        # Few, because each message is slow when threads of one process wait for the interpreter and a processor.
        "in_flight_messages": 40,
        "in_flight_bytes": 1000000,
        "burst_seconds": 0.002,
        "burst_bytes": 1000000,
    },
    "zmq_latency": ZEROMQ
    | {
        "curves": ["REQ/REP over inproc", "REQ/REP over ipc, legacy", "REQ/REP over tcp"],
        "ceilings": ["C"],
        "trips_per_repetition": 100,
    },
    "zmq_bursts": COMMON
    | {
        "messages": [1, 30],
        "sizes_bytes": [100],
        "burst_bytes": 1000000,
        "arms": ["copy", "no-copy"],
        "reference": "copy",
        "curves": ["PUSH/PULL over tcp"],
    },
    "mpi_pingpong": COMMON
    | {
        "elements": [1, 1000],
        "objects": ["float64 array", "float64 array, re-sent", "bytes", "dict", "list of floats"],
        "thread_levels": ["single"],
        "players": ["rank"],
        "arms": ["send", "Send", "pkl5.send", "persistent", "send into buffer", "Send into new array"],
        "reference": "send",
        "ceilings": ["C", "raw TCP", "raw Unix socket", "memcpy"],
    },
    "task_latency": COMMON
    | {
        "tasks": [2, 8],
        "preludes": ["none"],
        "arms": ["leastload", "pure"],
        "reference": "leastload",
        "ceilings": ["bare zmq"],
        "engines": 1,
        "entrants": {
            "leastload": {"farm": "ipyparallel", "scheme": "leastload"},
            "pure": {"farm": "ipyparallel", "scheme": "pure"},
            "bare zmq": {"farm": "zmq_echo"},
        },
    },
}
SETTINGS["mpi_pingpong between engines"] = SETTINGS["mpi_pingpong"] | {
    "players": ["engine"],
    "entrants": {"engine": PLAYING},
}
SETTINGS |= {
    f"{name} in one process": SETTINGS[name] | {"placement": "process"} for name in ("zmq_throughput", "zmq_latency")
}


def of_gate(cases):
    """The cases as parameters; the gate has one launch of each experiment."""
    return [pytest.param(case, marks=[] if case in experiments.declared() else pytest.mark.long) for case in cases]


THROUGHPUTS = of_gate(case for case in SETTINGS if case.startswith("zmq_throughput"))
LATENCIES = of_gate(case for case in SETTINGS if case.startswith("zmq_latency"))
CURVES = {
    "zmq_throughput": [
        "DEALER/ROUTER over ipc, polled, 1 MB in flight, bursts of 0.002 s",
        "PUSH/PULL over tcp, 40 messages or 1 MB in flight",
    ],
    "zmq_throughput in one process": ["PUSH/PULL over inproc, 40 messages or 1 MB in flight"],
    "zmq_latency": ["REQ/REP over ipc, legacy", "REQ/REP over tcp"],
    "zmq_latency in one process": ["REQ/REP over inproc"],
    "zmq_bursts": ["PUSH/PULL over tcp, messages of 100 B"],
    "mpi_pingpong": [
        f"{kind}, thread level single, fresh memory"
        for kind in ("bytes", "dict", "float64 array, re-sent", "float64 array", "list of floats")
    ],
    "task_latency": ["empty tasks, back to back, engines: 1, senders: 1, packer: json"],
}
CURVES["mpi_pingpong between engines"] = [
    curve.replace(", fresh", ", between engines, fresh") for curve in CURVES["mpi_pingpong"]
]
POINTS = {
    "zmq_throughput": "sizes_bytes",
    "zmq_latency": "sizes_bytes",
    "zmq_bursts": "messages",
    "mpi_pingpong": "elements",
    "task_latency": "tasks",
}
"""The setting with the points of an experiment's axis."""
METRICS = {
    "zmq_throughput": {
        ("throughput", "messages/s", "higher"),
        ("bandwidth", "MB/s", "higher"),
        ("send rate", "messages/s", "higher"),
        ("overstatement", "times", "lower"),
        *([("peak memory", "MB", "lower")] if provenance.watch_peak_memory()() else []),
    },
    "zmq_latency": {
        ("round trip", "s", "lower"),
        ("round trip, median", "s", "lower"),
        ("round trip, 95th percentile", "s", "lower"),
        ("round trip, 99th percentile", "s", "lower"),
    },
    "zmq_bursts": {
        ("throughput", "messages/s", "higher"),
        ("send rate", "messages/s", "higher"),
        ("overstatement", "times", "lower"),
    },
    "mpi_pingpong": {("round trip", "s", "lower")},
    "task_latency": {("submission", "tasks/s", "higher"), ("round trip", "tasks/s", "higher")},
}
AXES = {
    "zmq_throughput": ("message size", "bytes"),
    "zmq_latency": ("message size", "bytes"),
    "zmq_bursts": ("burst", "messages"),
    "mpi_pingpong": ("array length", "elements"),
    "task_latency": ("tasks", "tasks"),
}
DISTURBED = {"ok", "steal time", "throttled", "swapped"}
"""The possible validities of a sane block on a machine with other users."""


class Measured:
    """A finished launch, with the contents of its file."""

    def __init__(self, case, launch, code):
        self.case, self.launch, self.code = case, launch, code
        self.name = launch.output.parents[1].name
        self.settings = launch.settings
        self.table = record.read(launch.output, record.MEASUREMENTS)
        self.rows = self.table.to_pylist()
        self.facts = record.metadata(self.table)
        self.told = launch.log.read_text()
        self.cells = [(curve, x) for curve in CURVES[case] for x in getattr(self.settings, POINTS[self.name])]


@pytest.fixture(scope="module", params=of_gate(SETTINGS))
def measured(request, tmp_path_factory, libraries):
    folder = tmp_path_factory.mktemp(request.param.replace(" ", "-"))
    experiment = request.param.split()[0]
    launch = Launch(folder, experiment, SETTINGS[request.param], libraries=list(libraries.iterdir()))
    try:
        yield Measured(request.param, launch, launch.run())
    finally:
        launch.end()


def blocks(measured):
    """One row per block, in the order in which they ran."""
    first = measured.rows[0]["metric"]
    return sorted((row for row in measured.rows if row["metric"] == first), key=lambda row: row["start_ns"])


def test_the_launch_is_measured(measured):
    launch = measured.facts["launch"]
    assert (measured.code, launch["outcome"], launch.get("hole")) == (0, "measured", None), measured.told
    assert "done in" in measured.told


def burst(measured):
    """Whether the launch has bursts."""
    return measured.name == "zmq_bursts" or any("DEALER" in curve for curve in CURVES[measured.case])


def takes_part(arm, protocol, x):
    """Whether an arm is possible, and differs from all others, at a place of a curve.

    A list cannot be sent as a buffer. A message of several parts, or one that is forwarded, cannot be received into a
    reused buffer. memcpy needs two buffers, and a re-sent array is one.
    """
    if arm.runs == "default":
        return x > zmq.COPY_THRESHOLD / NEIGHBOURHOOD
    if arm.runs == "memcpy":
        return "re-sent" not in protocol
    if arm.runs == "recv-into" or (arm.ceiling and "over" in protocol):
        return "DEALER" not in protocol and "legacy" not in protocol
    if arm.runs == "Send into new array":
        return protocol.startswith("float64 array")
    return arm.runs not in ("Send", "persistent") or protocol.startswith(("float64 array", "bytes"))


def test_every_round_of_a_cell_has_every_arm(measured):
    cells = {}
    for row in blocks(measured):
        cells.setdefault((row["protocol"], row["x"]), []).append(row)
    assert sorted(cells) == measured.cells
    for (protocol, x), rows in cells.items():
        taking_part = [arm for arm in arms_of(measured.settings) if takes_part(arm, protocol, x)]
        rounds = 1 + max(row["round"] for row in rows)
        assert rounds >= 3
        every = range(rounds)
        present = {at: [arm.name for arm in taking_part if not (arm.ceiling and at % SELDOM)] for at in every}
        assert Counter((row["round"], row["arm"]) for row in rows) == {
            (at, arm): 1 for at in every for arm in present[at]
        }
        assert Counter((row["round"], row["position"]) for row in rows) == {
            (at, place): 1 for at in every for place in range(len(present[at]))
        }
        assert {row["stop"] for row in rows} <= {"width", "budget", "rounds"}


def test_every_block_is_sane_and_has_a_value_for_every_metric(measured):
    assert {row["validity"] for row in measured.rows} <= DISTURBED
    assert all(math.isfinite(row["value"]) and row["value"] > 0 for row in measured.rows)
    told = {(row["metric"], row["unit"], row["better"]) for row in measured.rows}
    # Flows have no overstatement, nor do bursts of one message, because these have no window.
    absent = set() if burst(measured) else {("overstatement", "times", "lower")}
    assert told == METRICS[measured.name] - absent
    of_all = METRICS[measured.name] - {("overstatement", "times", "lower")}
    counted = Counter(row["metric"] for row in measured.rows if not row["ceiling"])
    assert {counted[name] for name, _, _ in of_all} == {sum(not row["ceiling"] for row in blocks(measured))}
    assert {(row["axis"], row["axis_unit"]) for row in measured.rows} == {AXES[measured.name]}
    assert all(row["n"] >= 1 and row["block_seconds"] > 0 for row in measured.rows)


def test_only_the_null_arm_repeats_the_reference(measured):
    reference = measured.settings.reference
    assert {(row["arm"], row["runs"]) for row in measured.rows if row["is_null_arm"]} == {("null", reference)}
    assert all(row["arm"] == row["runs"] for row in measured.rows if not row["is_null_arm"])
    assert {row["reference"] for row in measured.rows} == {reference}


def test_no_two_blocks_ran_at_the_same_time(measured):
    rows = blocks(measured)
    ends = [row["start_ns"] + 1e9 * row["block_seconds"] for row in rows]
    assert all(end <= row["start_ns"] for end, row in zip(ends, rows[1:], strict=False))


def test_values_follow_from_the_repetitions_and_time_of_their_block(measured):
    def rate(row):
        each = (
            row["x"]
            if measured.name in ("task_latency", "zmq_bursts")
            else getattr(measured.settings, "trips_per_repetition", 1)
        )
        repetitions = row["n"] * each
        return repetitions / row["block_seconds"]

    expected = {
        "throughput": rate,
        "bandwidth": lambda row: rate(row) * row["x"] / 1e6,
        "round trip": rate if measured.name == "task_latency" else lambda row: 1 / rate(row),
    }
    compared = [row for row in measured.rows if row["metric"] in expected]
    assert compared
    for row in compared:
        assert row["value"] == pytest.approx(expected[row["metric"]](row), rel=1e-6)


@pytest.mark.parametrize("measured", LATENCIES, indirect=True)
def test_percentiles_rise_and_the_mean_is_plausible(measured):
    found = {}
    for row in (row for row in measured.rows if not row["ceiling"]):
        found.setdefault((row["protocol"], row["x"], row["round"], row["position"]), {})[row["metric"]] = row["value"]
    for block in found.values():
        low, middle, high = (
            block[f"round trip, {which}"] for which in ("median", "95th percentile", "99th percentile")
        )
        assert low <= middle <= high
        assert block["round trip"] > 0.5 * low


@pytest.mark.parametrize("measured", THROUGHPUTS, indirect=True)
def test_the_window_of_the_published_protocol_overstates_rates(measured):
    found = [row["value"] for row in measured.rows if row["metric"] == "overstatement"]
    assert bool(found) == burst(measured)
    assert all(times > 1 for times in found)


def test_the_file_names_its_launch_settings_and_code(measured):
    launch = measured.facts["launch"]
    assert (launch["experiment"], launch["placement"], launch["launch"]) == (
        measured.name,
        measured.settings.placement,
        1,
    )
    assert json.loads(launch["settings"]) == measured.settings.stored
    assert launch["code"] == "c0de"
    assert 0 < launch["timed_seconds"] < launch["wall_seconds"]
    assert 0 < launch["meeting_seconds"] < launch["wall_seconds"]
    phases = json.loads(launch["phases"])
    assert min(phases.values()) >= 0 and launch["meeting_seconds"] + sum(phases.values()) < launch["wall_seconds"]
    blocks = sum(phases.get(name, 0) for name in ("arms", "null arm", "ceilings"))
    assert blocks == pytest.approx(launch["timed_seconds"], abs=0.01)
    # Gathering adds `file` and `receipt`; the other columns belong to holes and to batch jobs.
    absent = {"file", "receipt", "hole", "reason", "hosts", "job", "queued_seconds", "entering_seconds"} | {"exclusive"}
    assert set(record.LAUNCHES.names) - set(launch) == absent


def test_every_rank_has_recorded_its_facts(measured):
    ranks = measured.facts["ranks"]
    assert [rank["rank"] for rank in ranks] == list(range(measured.settings.ranks))
    for rank in ranks:
        assert set(rank) == set(record.RANKS.names)
        assert rank["host"] and rank["cpu"] and rank["kernel"] and rank["affinity"]
        assert "mpi4py" in json.loads(rank["libraries"])
        assert "thread level" in rank["mpi"]


def test_progress_is_logged_once_per_cell(measured):
    cells = len(measured.cells)
    for done in range(1, cells + 1):
        assert measured.told.count(f"cell {done} of {cells} ") == 1


def test_nothing_is_left_but_the_file(measured):
    measured.launch.leaves_nothing_but_its_file()
