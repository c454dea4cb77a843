"""Does each collective call give the result that it must have, and does a wrong one make the block void?"""

import os
from types import SimpleNamespace

import numpy as np
import pytest
from launching import COMMON

from crossover.config import schema
from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.mpi_collectives import ARMS, PATTERNS, driver
from crossover.measure.sampling.contract import DAMAGED
from crossover.planning import plan
from crossover.records.holes import Refusal

SETTINGS = COMMON | {
    "elements": [1, 1000], "patterns": [*PATTERNS], "rank_counts": [2],
    "arms": [*ARMS], "reference": "pickled", "ceilings": ["C"],
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


def block(pattern, arm, spoil):
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
@pytest.mark.parametrize("changed", [np.ones(5), np.array([0, 0, 0, 0, -1.0])], ids=["damaged", "of another call"])
def test_a_wrong_result_makes_the_block_void(pattern, arm, changed):
    assert block(pattern, arm, lambda array: array + changed).fault == DAMAGED


def peers(*ranks):
    facts = [{"host": host, "affinity": affinity} for host, affinity in ranks]
    return SimpleNamespace(ranks=facts, hosts=[host for host, _ in ranks], size=len(ranks))


@pytest.mark.parametrize(
    ("ranks", "reason"),
    [
        ([("a", "0")] * 2, ""),
        ([("a", "0,1,2,3")] * 4, ""),
        ([("a", str(number)) for number in range(4)], ""),
        ([("a", "0,1"), ("b", "0,1")] * 2, ""),
        ([("a", "0,1")] * 4, "4 ranks have only 2 logical processors on a; remove 4 from `rank_counts`"),
        ([("a", "0,1,2")] * 3 + [("b", "0,1,2")], "not spread evenly"),
    ],
    ids=["two share one", "four on four", "four bound", "two hosts", "too few processors", "uneven"],
)
def test_more_than_two_ranks_need_a_processor_each_and_even_hosts(ranks, reason):
    if not reason:
        driver.require_room(peers(*ranks))
        return
    with pytest.raises(Refusal, match=reason):
        driver.require_room(peers(*ranks))


@pytest.mark.parametrize("placement", ["node", "nodes"])
def test_a_launch_has_one_number_of_ranks_which_its_curves_name(placement):
    config = schema.complete({"experiments": {"mpi_collectives": {"rank_counts": [2, 4]}}})
    own = [plan.launch(config, "mpi_collectives", placement, number).settings for number in (1, 2)]
    assert [each.ranks for each in own] == [2, 4]
    assert [{cell.keys["ranks"] for cell in driver.cells(each)} for each in own] == [{2}, {4}]


def test_without_a_compiler_the_ceiling_has_its_reason_and_all_else_is_measured(launch, tmp_path):
    broken = tmp_path / "mpi_collective.so"
    broken.write_text("no C compiler\n")
    count = 4 if len(os.sched_getaffinity(0)) >= 4 else 2
    one = launch("mpi_collectives", SETTINGS | {"rank_counts": [count]}, libraries=[broken])
    assert one.run() == 0, one.log.read_text()
    rows = one.rows
    assert {row["validity"] for row in rows if row["ceiling"]} == {"no C compiler"}
    assert {row["arm"] for row in rows if row["value"]} == {*ARMS, "null"}


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("ranks", [2, 4])
def test_the_expected_results_are_those_of_numpy(pattern, ranks):
    every = [driver.array(rank, 4) for rank in range(ranks)]
    for each in every:
        each[-1] = NUMBER
    wanted = {"allreduce": np.sum(every, axis=0), "allgather": every, "bcast": every[NUMBER % ranks]}[pattern]
    assert np.array_equal(driver.result(pattern, ranks, 4, NUMBER), wanted)
