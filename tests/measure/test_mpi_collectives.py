"""Does each collective call give the result that it must have, and does a wrong one make the block void?"""

import numpy as np
import pytest
from launching import COMMON, Launch

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.mpi_collectives import ARMS, PATTERNS, driver
from crossover.measure.ceilings import mpi
from crossover.measure.sampling.contract import DAMAGED
from crossover.records import record

SETTINGS = COMMON | {
    "elements": [1, 1000], "patterns": [*PATTERNS], "arms": [*ARMS], "reference": "pickled", "ceilings": ["C"],
}  # fmt: skip


class Two:
    """The calls of rank 0 of two, whose other rank does the same; `spoil` changes what arrives."""

    rank, size = 0, 2

    def __init__(self, spoil):
        self.spoil = spoil

    def Barrier(self):
        pass

    def _other(self, ours):
        other = driver.array(1, len(ours))
        other[-1] = ours[-1]
        return self.spoil(other)

    def allreduce(self, ours):
        return ours + self._other(ours)

    def Allreduce(self, ours, out):
        out[:] = ours + self._other(ours)

    def allgather(self, ours):
        return [ours] if isinstance(ours, bool) else [ours, self._other(ours)]

    def Allgather(self, ours, out):
        out[:] = [ours, self._other(ours)]

    def bcast(self, ours, root):
        return self._other(ours) if root else ours

    def Bcast(self, taken, root):
        if root:
            taken[:] = driver.array(1, len(taken))
            taken[-1] = NUMBER
            taken[:] = self.spoil(taken.copy())


NUMBER = 3


def block(pattern, arm, spoil=lambda array: array):
    first = driver.First.__new__(driver.First)
    first.member, first.channels = driver.Member(Two(spoil)), []
    # The last call has the number NUMBER, whose root is rank 1.
    if arm == "C":
        first.member.in_c = {pattern: in_c(pattern, spoil)}
    return first.run(Cell({"pattern": pattern}, 5), Arm(arm, arm, ceiling=arm == "C"), NUMBER + 1)


def in_c(pattern, spoil):
    """What the C function does on rank 0."""
    calls = Two(spoil)

    def play(ours, out, n):
        ours, out = ours.view(float), out.view(float)
        ours[-1] = n - 1
        {
            "allreduce": lambda: calls.Allreduce(ours, out),
            "allgather": lambda: calls.Allgather(ours, out.reshape(2, -1)),
            "bcast": lambda: calls.Bcast(out, (n - 1) % 2),
        }[pattern]()
        return 0.5

    return play


@pytest.mark.parametrize("arm", [*ARMS, "C"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_right_result_gives_the_time_of_a_call(pattern, arm):
    made = block(pattern, arm)
    assert not made.fault and made.values["call"] == pytest.approx(made.seconds / (NUMBER + 1))


@pytest.mark.parametrize("arm", [*ARMS, "C"])
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("changed", [np.ones(5), np.array([0, 0, 0, 0, -1.0])], ids=["damaged", "of another call"])
def test_a_wrong_result_makes_the_block_void(pattern, arm, changed):
    assert block(pattern, arm, lambda array: array + changed).fault == DAMAGED


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_expected_results_are_those_of_numpy(pattern):
    first, second = (driver.array(rank, 4) for rank in (0, 1))
    first[-1] = second[-1] = NUMBER
    wanted = {"allreduce": first + second, "allgather": [first, second], "bcast": second}[pattern]
    assert np.array_equal(driver.result(pattern, 2, 4, NUMBER), wanted)


def test_the_ceiling_gives_the_right_results_between_two_ranks(libraries, tmp_path):
    launch = Launch(tmp_path, "mpi_collectives", SETTINGS, libraries=[libraries / "mpi_collective.so"])
    assert launch.run() == 0, launch.log.read_text()
    rows = record.read(launch.output, record.MEASUREMENTS).to_pylist()
    assert {(row["pattern"], row["x"]) for row in rows if row["ceiling"] and row["value"]} == {
        (pattern, length) for pattern in mpi.COLLECTIVES for length in SETTINGS["elements"]
    }


def test_without_a_compiler_the_ceiling_has_its_reason_and_all_else_is_measured(tmp_path):
    broken = tmp_path / "mpi_collective.so"
    broken.write_text("no C compiler\n")
    launch = Launch(tmp_path, "mpi_collectives", SETTINGS, libraries=[broken])
    assert launch.run() == 0, launch.log.read_text()
    rows = record.read(launch.output, record.MEASUREMENTS).to_pylist()
    assert {row["validity"] for row in rows if row["ceiling"]} == {"no C compiler"}
    assert {row["arm"] for row in rows if row["value"]} == {*ARMS, "null"}
