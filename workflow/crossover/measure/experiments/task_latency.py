"""Empty tasks by the flood: how fast a client can submit them, and how fast their results are all back.

One block is one or more floods of x tasks to one farm. The farms of all arms, the null arm's own second
instance of the reference among them, live side by side; the idle ones sleep.

- submission = tasks / time from the first submit to the last one's return;
- round trip = tasks / time from the first submit to the last result.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from crossover.measure.farms import ipp
from crossover.measure.peers import Peers
from crossover.measure.sampler import Axis, Block, Cell, Metric
from crossover.plan import Arm, arms, points

AXIS = Axis("tasks", "tasks")
METRICS = (Metric("submission", "tasks/s", "higher"), Metric("round trip", "tasks/s", "higher"))


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per number of tasks."""
    protocol = f"ipyparallel, hwm {settings['hwm']}, {settings['engines']} engines"
    return [Cell(protocol, tasks) for tasks in points(settings["tasks"])]


class Floods:
    """Rank 0: floods one farm at a time."""

    def __init__(self, farms: dict[str, ipp.IpyparallelFarm]):
        self.farms = farms

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """`n` floods of `cell.x` tasks to the arm's farm."""
        farm = self.farms[arm.name]
        submitting = seconds = 0.0
        for _ in range(n):
            began = perf_counter()
            farm.submit(cell.x)
            submitted = perf_counter()
            right = farm.wait()
            seconds += perf_counter() - began
            submitting += submitted - began
            farm.forget()
            if right != cell.x:
                return Block(seconds, fault="lost or damaged messages")
        tasks = n * cell.x
        return Block(seconds, {"submission": tasks / submitting, "round trip": tasks / seconds})


@contextmanager
def drive(peers: Peers, settings: dict[str, Any]) -> Iterator[Floods]:
    """Start every farm, tell its engines, and wait until all have joined."""
    farms = {arm.name: ipp.IpyparallelFarm(arm.runs, settings["hwm"]) for arm in arms(settings)}
    for farm in farms.values():
        farm.start()
    engines = iter(range(1, peers.size))
    for farm in farms.values():
        invitation = farm.invitation()
        for _ in range(settings["engines"]):
            peers.send(invitation, to=next(engines))
    for farm in farms.values():
        farm.join(settings["engines"])
    yield Floods(farms)
    for farm in farms.values():
        farm.stop()


def serve(peers: Peers, settings: dict[str, Any]) -> None:
    """Be an engine of the farm that this rank is told to join."""
    ipp.serve(peers.receive(source=0))
