"""Does rank 0 measure exactly the cells in its settings, and learn from earlier raw files how long blocks take?"""

import math
import os
from random import Random

import pyarrow as pa
import pytest

from crossover.design.cell import Cell
from crossover.measure.launch import conduct
from crossover.measure.sampling.sampler import Pace, place
from crossover.records import record

CELL = Cell({"pattern": "PUSH/PULL", "transport": "ipc"}, 100)


def block(at, runs, n, seconds, **more):
    """The rows of a block that began `at` seconds after the launch; it has two metrics."""
    row = CELL.keys | {"x": 100.0, "round": 0, "position": at, "runs": runs, "arm": runs, "n": n}
    row |= {"start_ns": round(at * 1e9), "block_seconds": seconds, "value": 1.0} | more
    return [row | {"metric": metric} for metric in ("throughput", "bandwidth")]


def write(folder, launch, *blocks):
    table = pa.Table.from_pylist([row for rows in blocks for row in rows], schema=record.MEASUREMENTS)
    record.write(table, folder / f"launch={launch}-0123abcd.0.{launch}.parquet", {"launch": {}, "ranks": []})


def test_a_pace_is_the_median_time_of_a_repetition_and_the_time_between_blocks(tmp_path):
    blocks = [block(at, "copy", 100, seconds) for at, seconds in enumerate((0.5, 0.5, 2.0))]
    write(tmp_path, 1, *blocks, block(3, "no-copy", 10, 1.0))
    found = conduct.earlier_paces(tmp_path)
    assert found.keys() == {place(CELL, "copy"), place(CELL, "no-copy")}
    assert found[place(CELL, "copy")] == Pace(0.005, 0.5)
    assert found[place(CELL, "no-copy")].repetition_seconds == 0.1
    assert found[place(CELL, "copy")].block(0.05) == (12, pytest.approx(0.56))


def test_what_other_cells_take_between_two_visits_is_not_between_blocks(tmp_path):
    write(tmp_path, 1, *(block(at, "copy", 100, 0.5) for at in (0, 1, 2, 60, 61, 62)))
    assert conduct.earlier_paces(tmp_path)[place(CELL, "copy")] == Pace(0.005, 0.5)


def test_the_newest_file_counts_and_invalid_blocks_do_not(tmp_path):
    write(tmp_path, 1, block(0, "copy", 100, 0.5), block(1, "recv-into", 1, 0.1))
    write(tmp_path, 2, block(0, "copy", 100, 1.0), block(1, "no-copy", 1, 0.1, value=None))
    found = conduct.earlier_paces(tmp_path)
    assert found.keys() == {place(CELL, "copy"), place(CELL, "recv-into")}
    assert found[place(CELL, "copy")].repetition_seconds == 0.01


def test_without_a_file_there_are_no_paces(tmp_path):
    assert conduct.earlier_paces(tmp_path / "none") == conduct.earlier_paces(tmp_path) == {}


@pytest.mark.parametrize("put", [lambda raw: raw.write_bytes(b"nothing"), lambda raw: raw.mkdir(), os.mkfifo])
def test_a_file_that_cannot_be_read_is_named_and_the_others_count(tmp_path, capsys, put):
    write(tmp_path, 1, block(0, "copy", 100, 0.5))
    raw = tmp_path / "launch=2-0123abcd.0.1.parquet"
    put(raw)
    assert conduct.earlier_paces(tmp_path).keys() == {place(CELL, "copy")}
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{raw}: has no usable times of blocks (") and line.endswith("; delete it")


def test_a_flipped_bit_changes_no_pace(tmp_path):
    write(tmp_path, 1, *(block(at, "copy", 100, 0.5 + at / 8) for at in range(8)))
    (raw,) = tmp_path.iterdir()
    whole, paces = raw.read_bytes(), conduct.earlier_paces(tmp_path)
    for bit in Random(1).sample(range(8 * len(whole)), 400):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        raw.write_bytes(damaged)
        assert conduct.earlier_paces(tmp_path).items() <= paces.items(), bit


@pytest.mark.parametrize(
    ("n", "seconds", "apart"),
    [(0, 0.5, 1), (-1, 0.5, 1), (1, 5e254, 1), (1, math.inf, 1), (2**60, 0.5, 1), (1, 0.0, 1), (1, 0.5, 1e9)],
)
def test_a_pace_that_no_block_can_have_is_left_out(tmp_path, n, seconds, apart):
    write(tmp_path, 1, *(block(at, "copy", n, seconds) for at in (0, apart)))
    write(tmp_path, 2, block(0, "no-copy", 10, 1.0))
    assert conduct.earlier_paces(tmp_path).keys() == {place(CELL, "no-copy")}
