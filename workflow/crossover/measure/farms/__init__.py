"""Task farms: a client submits tasks, engines run them. Each is a folder in `crossover/farms`, found by its name.

Its module `farm` has a `Client` on rank 0. If ranks are its engines, it also has `serve(peers, invitation)` for them,
with the farm's own loop, because a rank that waits in MPI would spin. docs/extending.md describes the rest.

The farms of all arms run during the whole launch; the null arm has a second instance of the reference. Idle farms
sleep.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from time import perf_counter, sleep
from types import ModuleType
from typing import Any, TypeVar

from crossover.design.arm import Arm, arms_of
from crossover.design.cell import Cell, Metric
from crossover.design.farming import Farming
from crossover.design.farms import declared, options
from crossover.design.settings import FarmEntry
from crossover.measure.farms.tasks import Workload, turns_per_second
from crossover.measure.ranks.network import launcher
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling import prelude
from crossover.measure.sampling.contract import DAMAGED, Block
from crossover.records.holes import HoleKind, Refusal

Task = Callable[[Any], Any]
"""A function of one argument, at the top of a module that engines can import."""


class Farm(ABC):
    """The interface of a farm for experiments.

    Its start has three steps, so that many farms can start at the same time: `start`, `invitation` and `join`.
    """

    def __init__(self, peers: Peers, ranks: Sequence[int], engines: int, options: Any = None):
        self.peers, self.engines, self.options = peers, engines, options
        self.ranks = ranks
        """The ranks that are this farm's engines; none if it starts its own."""

    def start(self) -> None:  # noqa: B027 (not every farm has a server)
        """Start the farm's server, if any, without waiting for it."""

    def invitation(self) -> Any:  # noqa: B027
        """Wait for the server; returns the facts that engines need to join, for `serve`."""

    def join(self) -> None:  # noqa: B027
        """Wait until all engines have joined."""

    @abstractmethod
    def submit(self, task: Task, arguments: Sequence[Any]) -> None:
        """Submit a task per argument, one by one or by the library's `map`, and return when the last is submitted."""

    @abstractmethod
    def wait(self) -> list[Any]:
        """Wait for all submitted tasks; returns the results in the order of submission."""

    @abstractmethod
    def stop(self) -> None:
        """End the engines' loops and the server."""


class ExecutorFarm(Farm):
    """A farm whose engines work for an `executor` of concurrent.futures; an option `chunk_tasks` means chunks."""

    executor: Executor

    def submit(self, task: Task, arguments: Sequence[Any]) -> None:
        """Submit one by one, or in chunks; a thread of the executor pickles and sends."""
        if chunk_tasks := getattr(self.options, "chunk_tasks", 0):
            self._results = self.executor.map(task, arguments, chunksize=chunk_tasks)
        else:
            self._submit(task, arguments)

    def _submit(self, task: Task, arguments: Sequence[Any]) -> None:
        pending: list[Future[Any]] = [self.executor.submit(task, argument) for argument in arguments]
        self._results = (future.result() for future in pending)

    def wait(self) -> list[Any]:
        """Wait for the results."""
        return list(self._results)


def find(farm: str) -> ModuleType:
    """The module of the farm called `farm`. Raises Refusal if it needs a library that is not installed."""
    try:
        return import_module(f"crossover.farms.{farm}.farm")
    except ModuleNotFoundError as missing:
        # A wrong import of ours is a bug, not a library to install.
        if str(missing.name).startswith("crossover."):
            raise
        extra = declared()[farm].extra
        remedy = f"`make env EXTRA={extra}` installs it" if extra else "install it"
        raise Refusal(
            HoleKind.WRONG_SETUP,
            f"the farm {farm} needs {missing.name}, which is not installed; {remedy}, or remove the arms with "
            f"`farm: {farm}`, and engines of that farm from the players",
        ) from missing


def enter(peers: Peers, ranks: Sequence[int], engines: int, entrant: FarmEntry) -> Farm:
    """On rank 0: the farm of one configured entrant, with so many engines, which are these ranks if any."""
    farm: Farm = find(entrant["farm"]).Client(peers, ranks, engines, options(entrant))
    return farm


@contextmanager
def running(peers: Peers, farms: Collection[Farm]) -> Iterator[None]:
    """On rank 0: start these farms, whose engines are all the other ranks, and stop them at the end."""
    try:
        for farm in farms:
            farm.start()
        for farm in farms:
            invitation = farm.invitation()
            for rank in farm.ranks:
                peers.send(invitation, to=rank)
        for farm in farms:
            farm.join()
        yield
    except Exception:
        # A client often notices a lost server before the server's watch does. The watch reports the reason and ends
        # this process.
        sleep(1)
        raise
    for farm in farms:
        farm.stop()
    for rank in range(1, peers.size):
        peers.send("the end", to=rank)


def serve(peers: Peers, settings: Farming) -> None:
    """On every other rank: run an engine of the rank's farm, or nothing if it has none."""
    ranks = engines(peers.hosts, settings)
    runs = next((arm.runs for arm in arms_of(settings) if peers.rank in ranks[arm.name]), None)
    if runs is None:
        peers.receive()
    else:
        join(peers, settings.entrants[runs])


def join(peers: Peers, entrant: FarmEntry) -> None:
    """Run an engine of the entrant's farm on rank 0, then sleep until all farms are done."""
    # Imported before the invitation arrives, because this is slow, and all engines can do it at the same time.
    module = find(entrant["farm"])
    module.serve(peers, peers.receive())
    peers.receive()


def engines(hosts: Sequence[str], settings: Farming) -> dict[str, list[int]]:
    """The ranks of each arm's engines by the host of every rank: spread evenly over the hosts, and alike for all arms.

    An arm has none if its farm starts its own engines. Raises Refusal if a host has too few ranks.
    """
    # Rank 0's host comes last, so that the other hosts get the extra engines if they cannot be spread evenly.
    names = dict.fromkeys([*(host for host in hosts if host != hosts[0]), hosts[0]])
    by_host = {name: [rank for rank, host in enumerate(hosts) if rank and host == name] for name in names}
    placed = settings.arms_of_ranks()
    found: dict[str, list[int]] = {arm.name: [] for arm in arms_of(settings)}
    each, needed = settings.places(), settings.places() * len(placed)
    if any(len(ranks) < needed for ranks in by_host.values()):
        counts = ", ".join(f"{len(ranks)} on {host}" for host, ranks in by_host.items())
        raise Refusal(
            HoleKind.WRONG_SETUP,
            f"each host needs {needed} engines, but has {counts}: the launcher fills one host before the next, or the "
            f"job's nodes are not exclusive; {launcher(', such as srun --mpi=pmi2 --distribution=cyclic')}",
        )
    for at, arm in enumerate(placed):
        own = [ranks[at * each : (at + 1) * each] for ranks in by_host.values()]
        in_turn = [rank for turn in zip(*own, strict=True) for rank in turn]
        found[arm.name] = sorted(in_turn[: settings.engine_count()])
    return found


class Floods:
    """The blocks of a task experiment: floods of tasks to the farm of one arm at a time.

    `workload` gives the tasks of a cell's flood. Of the rates below, a block has those among `metrics`.
    """

    def __init__(self, farms: dict[str, Farm], metrics: Sequence[Metric], workload: Callable[[Cell], Workload]):
        self.farms, self.workload = farms, workload
        self.metrics = [metric.name for metric in metrics]

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Submit all tasks to the arm's farm and wait for all results, `n` times, or until a result is wrong."""
        farm, given = self.farms[arm.name], self.workload(cell)
        task, expected = given.task, given.expected or given.arguments
        submitting = seconds = 0.0
        for _ in range(n):
            arguments = given.renewed(given.arguments)
            prelude.play(cell.keys)
            began = perf_counter()
            farm.submit(task, arguments)
            submitted = perf_counter()
            results = farm.wait()
            seconds += perf_counter() - began
            submitting += submitted - began
            if len(results) != len(expected) or not all(map(given.same, results, expected)):
                return Block(seconds, fault=DAMAGED)
        tasks = n * len(expected)
        rates = {
            "submission": tasks / submitting,
            "round trip": tasks / seconds,
            "payload one way": n * given.bytes / seconds / 1e6,
        }
        if given.seconds:
            rates["efficiency"] = n * given.seconds / farm.engines / seconds
        return Block(seconds, {name: rates[name] for name in self.metrics if name in rates})


S = TypeVar("S", bound=Farming)


def flooding(
    metrics: Sequence[Metric], tasks: Callable[[S, Cell, float], Workload]
) -> tuple[Callable[[Peers, S], AbstractContextManager[Floods]], Callable[[Peers, S], None]]:
    """The `drive` and `serve` of a task experiment with these metrics: floods of the tasks of (settings, cell, speed).

    If tasks spin, `speed` is that of an idle core in turns per second.
    """

    @contextmanager
    def drive(peers: Peers, settings: S) -> Iterator[Floods]:
        # Measured before any farm takes a core.
        speed = turns_per_second() if "spin" in getattr(settings, "work", ()) else 0.0
        entrants, ranks = settings.entrants, engines(peers.hosts, settings)
        count = settings.engine_count()
        farms = {arm.name: enter(peers, ranks[arm.name], count, entrants[arm.runs]) for arm in arms_of(settings)}
        with running(peers, farms.values()):
            yield Floods(farms, metrics, lambda cell: tasks(settings, cell, speed))

    return drive, serve
