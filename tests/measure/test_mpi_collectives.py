"""Does each collective call give the result that it must have, and does a wrong one make the block void?"""

import numpy as np
import pytest

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.mpi_collectives import ARMS, PATTERNS, driver
from crossover.measure.sampling.contract import DAMAGED


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
    return first.run(Cell({"pattern": pattern}, 5), Arm(arm, arm), NUMBER + 1)


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_right_result_gives_the_time_of_a_call(pattern, arm):
    made = block(pattern, arm)
    assert not made.fault and made.values["call"] == pytest.approx(made.seconds / (NUMBER + 1))


@pytest.mark.parametrize("arm", ARMS)
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
