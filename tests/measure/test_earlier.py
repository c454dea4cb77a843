"""Do earlier raw files tell how long blocks take?"""

import pyarrow as pa
import pytest

from crossover.design.cell import Cell
from crossover.measure.launch import conduct
from crossover.measure.sampling import sampler
from crossover.measure.sampling.sampler import Pace
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
    assert found.keys() == {sampler.place(CELL, "copy"), sampler.place(CELL, "no-copy")}
    assert found[sampler.place(CELL, "copy")] == Pace(0.005, 0.0)
    assert found[sampler.place(CELL, "no-copy")].repetition_seconds == 0.1
    assert found[sampler.place(CELL, "copy")].block(0.05) == (12, pytest.approx(0.06))


def test_the_newest_file_counts_and_invalid_blocks_do_not(tmp_path):
    write(tmp_path, 1, block(0, "copy", 100, 0.5), block(1, "recv-into", 1, 0.1))
    write(tmp_path, 2, block(0, "copy", 100, 1.0), block(1, "no-copy", 1, 0.1, value=None))
    found = conduct.earlier_paces(tmp_path)
    assert found.keys() == {sampler.place(CELL, "copy"), sampler.place(CELL, "recv-into")}
    assert found[sampler.place(CELL, "copy")].repetition_seconds == 0.01


def test_no_file_and_a_damaged_one_tell_nothing(tmp_path):
    assert conduct.earlier_paces(tmp_path / "none") == conduct.earlier_paces(tmp_path) == {}
    (tmp_path / "launch=1-0123abcd.0.1.parquet").write_bytes(b"nothing")
    assert conduct.earlier_paces(tmp_path) == {}
