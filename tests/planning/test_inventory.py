"""Are receipts read, and launches counted by them?"""

import json
from dataclasses import replace

import pytest
from measured import measure

from crossover.config import schema
from crossover.design.settings import TIERS
from crossover.planning import plan, receipt
from crossover.records.rows import Launch

PINGPONG = {"mpi_pingpong": {"launches": 2, "placements": ["node"], "players": ["rank"]}}
FIRST, SECOND = (
    plan.launch(schema.complete({"experiments": PINGPONG}), "mpi_pingpong", "node", number) for number in (1, 2)
)


@pytest.fixture
def config(tmp_path):
    return schema.complete({"results": str(tmp_path / "results"), "tier": "quick", "experiments": PINGPONG})


def held(config):
    return receipt.held(config.results, config.tier)


def test_a_receipt_tells_how_a_launch_ended(config):
    file = measure(config, FIRST)
    hole = measure(config, SECOND, facts={"outcome": "hole", "hole": "crashed", "reason": "it broke"})
    [[one], [two]] = held(config).values()
    assert (one.path, one.name, one.turn, one.measured, one.complete) == (file, FIRST.name, 0, True, True)
    assert one.software["libzmq"] == "4.3.5"
    assert receipt.stored_settings(one) == FIRST.settings.stored
    told = {"outcome": "hole", "hole": "crashed", "reason": "it broke", "receipt": str(hole)}
    assert two.row == Launch.of(SECOND.identity | told)


@pytest.mark.parametrize("length", [0, 1, 100, -5, -3])
def test_a_cut_receipt_is_unreadable_and_not_complete(config, length):
    file = measure(config, FIRST)
    file.write_bytes(file.read_bytes()[:length])
    found = receipt.read(file)
    assert (found.outcome, found.complete, found.measured) == ("unreadable", False, False)


@pytest.mark.parametrize(
    "change",
    [
        {"raw": 7},
        {"raw": "raw/quick/mpi_pingpong/node/../../../../other.parquet"},
        {"raw": "/etc/passwd"},
        {"raw": "a\0b"},
        {"bytes": "many"},
        {"bytes": 1e300},
        {"bytes": -1},
        {"outcome": None},
        {"outcome": "better"},
        {"wall_seconds": float("nan")},
        {"software": ["libzmq"]},
        {"reason": {"a": 1}},
    ],
)
def test_a_receipt_with_a_value_of_another_type_is_unreadable(config, change):
    file = measure(config, FIRST)
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    assert (receipt.read(file).outcome, receipt.read(file).complete) == ("unreadable", False)


@pytest.mark.parametrize("text", ["null", "7", "[]", "[" * 200_000, '{"a":' * 200_000, "", "\0"])
def test_a_receipt_that_is_no_object_is_unreadable(config, text):
    file = measure(config, FIRST)
    file.write_text(text)
    assert receipt.read(file).outcome == "unreadable"


def test_a_receipt_that_names_the_raw_file_of_another_launch_is_unreadable(config):
    first, second = measure(config, FIRST), measure(config, SECOND)
    first.write_bytes(second.read_bytes())
    assert receipt.read(first).outcome == "unreadable"


def test_a_receipt_whose_raw_file_is_gone_or_cut_is_not_complete(config):
    file = measure(config, FIRST)
    raw = receipt.read(file).raw_file
    raw.write_bytes(raw.read_bytes()[:-1])
    assert not receipt.read(file).complete
    raw.unlink()
    assert not receipt.read(file).complete


def test_the_results_can_move(config, tmp_path):
    measure(config, FIRST)
    receipt.Path(config.results).rename(tmp_path / "moved")
    [[moved]] = receipt.held(str(tmp_path / "moved"), "quick").values()
    assert moved.complete and str(moved.raw_file).startswith(str(tmp_path / "moved"))


def test_the_latest_measurement_counts_before_any_hole(config):
    measure(config, FIRST, fewest_rounds=1)
    file = measure(config, FIRST, fewest_rounds=2)
    measure(config, FIRST, 1, facts={"outcome": "hole", "hole": "crashed"})
    assert receipt.latest(held(config)[FIRST.name]).path == file


def test_launches_of_other_tiers_are_counted(config):
    for turn in (0, 1):
        measure(replace(config, tier="paper"), FIRST, turn)
    assert receipt.other_tiers(config.results, "quick", TIERS) == {"paper": 1}
