"""Are receipts read, and are raw files without one adopted, each once and none that was measured again since?"""

import pytest
from measured import RANKS, measure, write

from crossover.config import schema
from crossover.design.settings import canonical
from crossover.planning import inventory, receipt, second_sweep
from crossover.planning.inventory import key

PINGPONG = {"mpi_pingpong": {"launches": 2, "placements": ["node"], "players": ["rank"]}}
FIRST, SECOND = ({"experiment": "mpi_pingpong", "placement": "node", "launch": number} for number in (1, 2))


@pytest.fixture
def config(tmp_path):
    return schema.complete({"results": str(tmp_path / "results"), "tier": "quick", "experiments": PINGPONG})


def held(config):
    return inventory.receipts(config["results"], config["tier"])


def adopt(config):
    return inventory.adopt(config["results"], config["tier"])


def earlier(config, launch, **facts):
    """The raw file of an earlier version."""
    settings = canonical(second_sweep.settings_of(config, launch))
    file = inventory.Path(config["results"], "raw/quick/mpi_pingpong/node", f"launch={launch['launch']}.parquet")
    return write(file, launch | {"outcome": "measured", "settings": settings, "wall_seconds": 3.0} | facts, RANKS)


def test_a_receipt_tells_how_a_launch_ended(config):
    file = measure(config, FIRST)
    hole = measure(config, SECOND, facts={"outcome": "hole", "hole": "crashed", "reason": "it broke"})
    [[one], [two]] = held(config).values()
    assert (one.path, one.launch, one.turn, one.measured, one.complete) == (file, FIRST, 0, True, True)
    assert one.software["libzmq"] == "4.3.5"
    assert inventory.settings(one) == second_sweep.settings_of(config, FIRST)
    assert two.row == SECOND | {"outcome": "hole", "hole": "crashed", "reason": "it broke", "receipt": str(hole)}


@pytest.mark.parametrize("length", [0, 1, 100, -5, -3])
def test_a_cut_receipt_is_unreadable_and_not_complete(config, length):
    file = measure(config, FIRST)
    file.write_bytes(file.read_bytes()[:length])
    found = receipt.read(file)
    assert (found.outcome, found.complete, found.measured) == ("unreadable", False, False)
    # The raw file has all that a receipt tells.
    assert adopt(config) == ["1 raw file without a receipt has one now"]
    assert receipt.read(file).complete


def test_a_receipt_whose_raw_file_is_gone_or_cut_is_not_complete(config):
    file = measure(config, FIRST)
    raw = receipt.read(file).raw_file
    raw.write_bytes(raw.read_bytes()[:-1])
    assert not receipt.read(file).complete
    raw.unlink()
    assert not receipt.read(file).complete


def test_the_results_can_move(config, tmp_path):
    measure(config, FIRST)
    inventory.Path(config["results"]).rename(tmp_path / "moved")
    [[moved]] = inventory.receipts(str(tmp_path / "moved"), "quick").values()
    assert moved.complete and str(moved.raw_file).startswith(str(tmp_path / "moved"))


# ---- raw files without a receipt


def test_raw_files_of_an_earlier_version_get_their_receipts_once(config):
    for launch in (FIRST, SECOND):
        raw = earlier(config, launch)
    assert adopt(config) == ["2 raw files without a receipt have one now"]
    [[one], [two]] = held(config).values()
    assert two.raw_file == raw and one.digest == receipt.digest(second_sweep.settings_of(config, FIRST))
    assert one.wall_seconds == 3.0 and one.software["libzmq"] == "4.3.5"
    assert adopt(config) == []


def test_a_raw_file_whose_supervisor_was_killed_gets_its_receipt_at_its_turn(config):
    for turn in (0, 3):
        file = measure(config, FIRST, turn)
        file.unlink()
    assert adopt(config) == ["2 raw files without a receipt have one now"]
    assert [each.turn for each in held(config)[key(FIRST)]] == [0, 3]


def test_the_newest_raw_file_of_a_receipt_counts(config):
    file = measure(config, FIRST)
    old = file.read_bytes()
    measure(config, FIRST)
    assert adopt(config) == [], "the older raw file was measured again since"
    newest = receipt.read(file).raw
    # A forced launch whose supervisor was killed before it replaced the receipt.
    file.write_bytes(old)
    assert adopt(config) == ["1 raw file without a receipt has one now"]
    assert receipt.read(file).raw == newest


def test_a_file_of_an_earlier_version_that_was_measured_again_is_not_adopted(config):
    earlier(config, FIRST)
    file = measure(config, FIRST)
    before = file.read_bytes()
    assert adopt(config) == []
    assert file.read_bytes() == before


def test_a_raw_file_that_cannot_be_read_is_named_until_its_launch_has_a_receipt(config):
    raw = earlier(config, FIRST)
    raw.write_bytes(b"nothing")
    assert adopt(config) == [f"{raw}: cannot be read, so its launch counts as not measured"]
    assert held(config) == {}
    measure(config, FIRST)
    assert adopt(config) == []


def test_the_latest_measurement_counts_before_any_hole(config):
    measure(config, FIRST, weights=1)
    file = measure(config, FIRST, weights=2)
    measure(config, FIRST, 1, facts={"outcome": "hole", "hole": "crashed"})
    assert inventory.latest(held(config)[key(FIRST)]).path == file


def test_launches_of_other_tiers_and_of_none_are_counted(config):
    measure(config | {"tier": "paper"}, FIRST)
    measure(config | {"tier": "paper"}, FIRST, 1)
    assert inventory.other_tiers(config["results"], "quick", schema.TIERS) == {"paper": 1}
    assert inventory.of_no_tier(config["results"], "quick") == []
    old = write(inventory.Path(config["results"], "raw/mpi_pingpong/node/launch=1.parquet"), FIRST)
    [line] = inventory.of_no_tier(config["results"], "quick")
    assert line.startswith(
        f"left out: 1 launches of an earlier version, such as {old}; if they are of tier quick, move"
    )
