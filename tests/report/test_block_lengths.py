"""Does the page sum up the comparison with long blocks correctly?"""

from dataclasses import astuple, replace

from crossover.config import block_lengths as long_blocks
from crossover.config import schema
from crossover.config.block_lengths import LongBlock
from crossover.report.sections import block_lengths

SAME = LongBlock(
    *("mpi_pingpong", "array", 100.0, "round trip", "send", "elements", 0.002, 0.5, 5, 1.0, 0.98, 1.02), "2026-11-23"
)
SLOWER = replace(SAME, arm="Send", ratio=1.1, low=1.05, high=1.15, date="2026-11-24")
LITTLE = replace(SAME, arm="persistent", ratio=1.02, low=1.01, high=1.03)


def test_one_sentence_counts_the_arms_and_names_the_largest_difference():
    said = block_lengths.sentence([SAME, SLOWER, LITTLE])
    assert "blocks of 500 ms" in said and "3 arms at single points (2026-11-23 to 2026-11-24, " in said
    assert "a difference of 10 % would have been seen: 2 differ significantly" in said
    assert said.endswith(
        "`Send` in round trip of `mpi_pingpong` (array, 100 elements): long / short is 1.10 [1.05, 1.15]."
    )
    assert "0 differ significantly" in block_lengths.sentence([SAME])
    assert block_lengths.sentence([]) == ""


def test_the_shipped_rows_belong_to_known_experiments():
    known = schema.complete({})["experiments"]
    rows = long_blocks.read()
    assert {row.experiment for row in rows} <= set(known)
    assert all(row.low <= row.ratio <= row.high and row.block_seconds < row.long_seconds for row in rows)
    assert max(row.detectable for row in rows) <= long_blocks.DETECTABLE
    assert len({astuple(row)[:5] for row in rows}) == len(rows)
