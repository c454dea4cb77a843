"""Does the page list exactly the arms whose values differ in long blocks?"""

from dataclasses import astuple, replace

from hypothesis import given
from hypothesis import strategies as st

from crossover.config import block_lengths as long_blocks
from crossover.config import schema
from crossover.config.block_lengths import LongBlock
from crossover.report.sections import block_lengths

INTERVAL = {"ratio": 1.0, "low": 0.98, "high": 1.02}
SAME = LongBlock(
    *("mpi_pingpong", "array", 100.0, "round trip", "send", "elements"), 0.002, 0.5, 5, **INTERVAL, date="2026-11-23"
)
SLOWER = replace(SAME, arm="Send", ratio=1.1, low=1.05, high=1.15, date="2026-11-24")
LITTLE = replace(SAME, arm="persistent", ratio=1.02, low=1.01, high=1.03)
UNKNOWN = replace(SAME, arm="pkl5.send", ratio=1.1, low=0.9, high=1.3)


def test_arms_that_differ_are_listed_and_all_are_counted():
    rows = [SAME, SLOWER, LITTLE, UNKNOWN]
    (line,) = block_lengths.lines(rows)
    assert list(line.values()) == [
        *("`mpi_pingpong`", "array", "Send", "round trip", "100 elements", "2 ms", "500 ms", "1.10 [1.05, 1.15]")
    ]
    said = block_lengths.sentence(rows)
    assert "4 arms at single points" in said and "(2026-11-23 to 2026-11-24, " in said
    assert "2 agreed within 3 %. 1 differed significantly by more; " in said and "For 1, the noise" in said
    assert block_lengths.sentence([]) == ""


@given(st.floats(0.5, 2), st.floats(0, 0.5), st.floats(0, 0.5))
def test_no_arm_agrees_and_differs(ratio, below, above):
    row = replace(SAME, ratio=ratio, low=ratio - below, high=ratio + above)
    agrees = "1 agreed" in block_lengths.sentence([row])
    assert not (agrees and block_lengths.differing([row]))


def test_the_shipped_rows_belong_to_known_experiments():
    known = schema.complete({})["experiments"]
    rows = long_blocks.read()
    assert {row.experiment for row in rows} <= set(known)
    assert all(row.low <= row.ratio <= row.high and row.block_seconds < row.long_seconds for row in rows)
    assert len({astuple(row)[:5] for row in rows}) == len(rows)
