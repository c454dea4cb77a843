"""Do the three experiments, in real processes, measure what their settings say and leave nothing else behind?"""

import json
import math
from collections import Counter

import pytest
from launching import COMMON, Launch, eventually

from crossover import plan, record

SETTINGS = {
    "zmq_throughput": COMMON
    | {
        "sizes_bytes": [100, 20000],
        "arms": ["copy", "no-copy"],
        "reference": "copy",
        "transports": ["tcp", "ipc"],
        "in_flight_bytes": 1000000,
    },
    "mpi_pingpong": COMMON | {"elements": [1, 1000], "arms": ["send", "Send"], "reference": "send"},
    "task_latency": COMMON
    | {
        "tasks": [2, 8],
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
CELLS = {
    "zmq_throughput": [(f"PUSH/PULL over {how}, 1 MB in flight", x) for how in ("ipc", "tcp") for x in (100, 20000)],
    "mpi_pingpong": [("float64 array, blocking calls", x) for x in (1, 1000)],
    "task_latency": [("empty tasks, engines: 1", x) for x in (2, 8)],
}
METRICS = {
    "zmq_throughput": {
        ("throughput", "messages/s", "higher"),
        ("bandwidth", "MB/s", "higher"),
        ("send rate", "messages/s", "higher"),
    },
    "mpi_pingpong": {("round trip", "s", "lower")},
    "task_latency": {("submission", "tasks/s", "higher"), ("round trip", "tasks/s", "higher")},
}
AXES = {
    "zmq_throughput": ("message size", "bytes"),
    "mpi_pingpong": ("array length", "elements"),
    "task_latency": ("tasks", "tasks"),
}
DISTURBED = {"ok", "steal time", "throttled", "swapped"}
"""What may be said of a sane block on a machine that others use too."""


class Measured:
    """A launch that was run, and what is in its file."""

    def __init__(self, launch, code):
        self.launch, self.code = launch, code
        self.name = launch.output.parents[1].name
        self.settings = SETTINGS[self.name]
        self.table = record.read(launch.output, record.MEASUREMENTS)
        self.rows = self.table.to_pylist()
        self.facts = record.metadata(self.table)
        self.told = launch.log.read_text()


@pytest.fixture(scope="module", params=SETTINGS)
def measured(request, tmp_path_factory):
    launch = Launch(tmp_path_factory.mktemp(request.param), request.param, SETTINGS[request.param])
    try:
        yield Measured(launch, launch.run())
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


def test_every_cell_has_every_arm_as_often_as_it_had_rounds(measured):
    cells = {}
    for row in blocks(measured):
        cells.setdefault((row["protocol"], row["x"]), []).append(row)
    assert sorted(cells) == CELLS[measured.name]
    arms = [arm.name for arm in plan.arms(measured.settings)]
    for rows in cells.values():
        rounds = 1 + max(row["round"] for row in rows)
        assert rounds >= 3
        assert Counter(row["arm"] for row in rows) == dict.fromkeys(arms, rounds)
        assert Counter((row["round"], row["position"]) for row in rows) == {
            (number, place): 1 for number in range(rounds) for place in range(len(arms))
        }
        assert {row["stop"] for row in rows} <= {"width", "budget", "rounds"}


def test_every_block_is_sane_and_has_a_value_for_every_metric(measured):
    assert {row["validity"] for row in measured.rows} <= DISTURBED
    assert all(math.isfinite(row["value"]) and row["value"] > 0 for row in measured.rows)
    assert len(measured.rows) == len(blocks(measured)) * len(METRICS[measured.name])
    assert {(row["metric"], row["unit"], row["better"]) for row in measured.rows} == METRICS[measured.name]
    assert {(row["axis"], row["axis_unit"]) for row in measured.rows} == {AXES[measured.name]}
    assert all(row["n"] >= 1 and row["block_seconds"] > 0 for row in measured.rows)


def test_the_null_arm_and_no_other_runs_the_reference_a_second_time(measured):
    reference = measured.settings["reference"]
    assert {(row["arm"], row["runs"]) for row in measured.rows if row["null"]} == {("null", reference)}
    assert all(row["arm"] == row["runs"] for row in measured.rows if not row["null"])
    assert {row["reference"] for row in measured.rows} == {reference}


def test_no_two_blocks_ran_at_the_same_time(measured):
    rows = blocks(measured)
    ends = [row["start_ns"] + 1e9 * row["block_seconds"] for row in rows]
    assert all(end <= row["start_ns"] for end, row in zip(ends, rows[1:], strict=False))


def test_values_are_what_the_repetitions_and_the_time_of_their_block_give(measured):
    def rate(row):
        repetitions = row["n"] * (row["x"] if measured.name == "task_latency" else 1)
        return repetitions / row["block_seconds"]

    expected = {
        "throughput": rate,
        "bandwidth": lambda row: rate(row) * row["x"] / 1e6,
        "round trip": (lambda row: 1 / rate(row)) if measured.name == "mpi_pingpong" else rate,
    }
    compared = [row for row in measured.rows if row["metric"] in expected]
    assert compared
    for row in compared:
        assert row["value"] == pytest.approx(expected[row["metric"]](row), rel=1e-6)


def test_the_file_says_which_launch_it_holds_and_with_what_it_was_made(measured):
    launch = measured.facts["launch"]
    assert (launch["experiment"], launch["placement"], launch["launch"]) == (measured.name, "node", 1)
    assert json.loads(launch["settings"]) == measured.settings
    assert launch["code"] == "c0de"
    assert 0 < launch["timed_seconds"] < launch["wall_seconds"]
    # `file` is known only to who gathers it; a hole's columns are a hole's.
    assert set(record.LAUNCHES.names) - set(launch) == {"file", "hole", "reason"}


def test_every_rank_has_told_what_it_really_is(measured):
    ranks = measured.facts["ranks"]
    assert [rank["rank"] for rank in ranks] == list(range(plan.ranks(measured.settings)))
    for rank in ranks:
        assert set(rank) == set(record.RANKS.names)
        assert rank["host"] and rank["cpu"] and rank["kernel"] and rank["affinity"]
        assert "mpi4py" in json.loads(rank["libraries"])
        assert "thread level" in rank["mpi"]


def test_progress_was_told_once_per_cell(measured):
    cells = len(CELLS[measured.name])
    for done in range(1, cells + 1):
        assert measured.told.count(f"cell {done} of {cells} ") == 1


def test_no_process_is_left(measured):
    assert eventually(lambda: not measured.launch.processes()), measured.launch.processes()


def test_no_file_is_left_anywhere(measured):
    launch = measured.launch
    assert list(launch.output.parent.iterdir()) == [launch.output]
    assert list(launch.home.iterdir()) == []
    assert [path.name for path in launch.temporary.iterdir() if not path.name.endswith(".measuring")] == []
    # Launches of others may be starting at this moment: theirs go again.
    assert eventually(lambda: not launch.left_in_shared_folders()), launch.left_in_shared_folders()
