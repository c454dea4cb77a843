"""A user's function: calls of it for all items, in a loop and on task farms.

A block is one or more calls for as many items as the cell has. Each call hands the items to a farm whose workers run
already, and waits for all results, which are compared with the loop's. Or a block is a whole program, in a process of
its own: it starts a pool with the lines to paste, calls it once, and ends.

- round trip = items / time from the first submit to the last result;
- whole program = time from before the imports of the pool's library until the process has ended.

Every rank writes the user's file, as its launch stores it, to a folder of its own and imports it from there. So the
function is the one that was read when the run was planned, on every host.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.design.farming import Look, of_programs
from crossover.design.farms import runs_in_client
from crossover.design.protocol import Keys
from crossover.errors import CrossoverError
from crossover.experiments.own_task import METRICS, PROGRAM, QUICK, RUNNING, Settings
from crossover.measure.farms import Floods, flooding, pilot, programs
from crossover.measure.farms.tasks import Workload, keys
from crossover.measure.farms.user_code import (
    functions,
    kept,
    reason_of,
    renewed,
    unfold,
    with_kept,
    with_sent,
    without_module,
)
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import DAMAGED, Block

FAILURES = (Exception, SystemExit)
"""What a user's function may raise."""
OTHERWISE = (
    "results differ in other processes: seed what is random, sort what comes from a set, or add same(got, expected)"
)
LONGEST = 2
"""A cell is left out if a round of it would take so many times the budget, unless it is the shortest."""


def look(file: str, sources: Mapping[str, str]) -> Look:
    """A first look at the file, before anything is measured."""
    return pilot.look(file, sources, QUICK.reference)


def cells(settings: Settings) -> list[Cell]:
    """One cell per curve and number of items, as far as a round fits; the driver has timed the function before."""
    counts, item_seconds = _fitting(settings), _item_seconds.get(settings.file, 0.0)
    calls = [
        Cell(curve, count, least_seconds=item_seconds * count / settings.engines)
        for curve in _curves(settings, RUNNING)
        for count in counts
        if RUNNING in settings.pools
    ]
    whole = [
        # Each takes longer than any block.
        Cell(curve, count, programs.arms_of(settings.arms), least_seconds=settings.block_seconds)
        for curve in _curves(settings, PROGRAM)
        for count in of_programs(counts)
        if PROGRAM in settings.pools and settings.placement != "nodes" and not settings.shares
    ]
    return calls + whole


def _curves(settings: Settings, pool: str) -> list[Keys]:
    """A function without a module is measured in running pools, and without a shared argument."""
    own = {"pool": pool, "library_threads": settings.threads_of_libraries, "engines": settings.engines}
    if settings.shares:
        return [keys(settings, "user", **own, shared=way, function="module") for way in ("sent", "kept")]
    places = [place for place in settings.functions if pool == RUNNING or place == "module"]
    return [keys(settings, "user", **own, function=place) for place in places]


_item_seconds: dict[str, float] = {}
"""How long the function of a file takes, once the driver has timed it."""


_import_seconds: dict[str, float] = {}
"""How long its import takes."""


def _fitting(settings: Settings) -> list[int]:
    """The numbers of items that are not left out."""
    most = LONGEST * settings.seconds / max(1e-9, _item_seconds.get(settings.file, 0.0) * len(settings.arms))
    return [count for count in settings.item_counts if count <= most] or [min(settings.item_counts)]


def tasks(settings: Settings, cell: Cell, turns_per_second: float) -> Workload:
    """The items of one call."""
    file = settings.file
    task: Callable[[Any], Any]
    renew: Callable[[Sequence[Any]], Sequence[Any]] = renewed
    match cell.keys:
        case {"shared": "sent"}:
            task, renew = partial(with_sent, file), lambda items: [(item, kept(file)) for item in renewed(items)]
        case {"shared": "kept"}:
            task = partial(with_kept, file)
        case {"function": "notebook"}:
            task = _without_module(settings.sources[file])
        case _:
            task = functions(file).task
    same, expected = functions(file).same, _expected(file, cell.x)
    return Workload(task, _items(file, cell.x), same=same, expected=expected, renewed=renew)


_without_module = cache(without_module)


@cache
def _items(file: str, count: int) -> list[Any]:
    return [*functions(file).items(count)]


@cache
def _expected(file: str, count: int) -> list[Any]:
    """The results of calls in this process. Raises CrossoverError, in a line that names the item, if one fails."""
    code, found = functions(file), []
    for number, item in enumerate(renewed(_items(file, count))):
        try:
            found.append(code.task(*code.arguments(item, kept(file))))
        except FAILURES as error:
            raise CrossoverError(f"task fails for item {number}: {reason_of(error, file)}") from error
    return found


HANGS, START_LIMIT_SECONDS = 10, 15
"""Items hang in other processes if they take so many times as long as here, beyond the time to start these."""
IMPORTS = 4
"""A program and its workers import the file, one after the other, and share the cores."""
PROBE = "concurrent.futures"
"""A pool that breaks where a worker ends, while others would wait for its result."""


def _elsewhere(settings: Settings) -> dict[int, str]:
    """The numbers of items with which tasks fail in other processes, with the reason; programs show this before a pool
    breaks. Nothing if all is right with the largest number."""
    counts = [] if settings.shares else sorted(_fitting(settings), reverse=True)
    found = dict[int, str]()
    for count in counts:
        if fault := _fault_elsewhere(settings, count):
            found[count] = fault
        elif count == counts[0]:
            break
    return found


def _fault_elsewhere(settings: Settings, count: int) -> str:
    """How tasks with so many items fail in other processes, whatever the pool; empty if they do not."""
    file = settings.file
    limit = START_LIMIT_SECONDS + IMPORTS * _import_seconds[file] + HANGS * count * _item_seconds[file]
    try:
        expected = _expected(file, count)
        _, results = programs.run(file, PROBE, count, settings.engines, limit)
        is_right = len(results) == len(expected) and all(map(functions(file).same, results, expected))
    except programs.ProgramError as error:
        # Other failures, such as those of pickle, depend on the pool.
        ended = f"with {count:,} items, task ends a worker's process, as os._exit, a crash or a lack of memory does"
        hangs = f"with {count:,} items, task {programs.LATE} {limit:.0f} s in other processes"
        return ended if "BrokenProcessPool" in str(error) else hangs if programs.LATE in str(error) else ""
    except FAILURES as error:
        return reason_of(error, file)
    return "" if is_right else OTHERWISE


class Guard:
    """The blocks of the farms, and whole programs; an arm that raises at a point is not called there again."""

    def __init__(self, floods: Floods, settings: Settings, elsewhere: Mapping[int, str]):
        self.floods, self.settings, self.elsewhere = floods, settings, elsewhere
        self.faults: dict[tuple[str, int, str], str] = {}

    @property
    def notes(self) -> str:
        """The numbers of items that are left out, or that even the reference could not run."""
        left_out = sorted({*self.settings.item_counts} - {*_fitting(self.settings)})
        failed = {count: fault for (_, count, arm), fault in self.faults.items() if arm == self.settings.reference}
        return "; ".join(
            [f"{count:,} items are left out, because a launch has no time for them" for count in left_out]
            + [f"{count:,} items are not measured: {failed[count]}" for count in sorted(failed)]
        )

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Call the function for all items, `n` times, or run `n` programs that do."""
        place = cell.protocol, cell.x, arm.runs
        if place not in self.faults:
            in_client = runs_in_client(self.settings.entrants[arm.runs])
            try:
                _expected(self.settings.file, cell.x)
                if (fault := self.elsewhere.get(cell.x)) and not in_client:
                    raise CrossoverError(fault)
                block = self._program(cell, arm, n) if cell.keys["pool"] == PROGRAM else self.floods.run(cell, arm, n)
            except FAILURES as error:
                block = Block(0.0, fault=reason_of(error, self.settings.file))
            if not block.fault or block.fault == DAMAGED:
                return block
            self.faults[place] = block.fault
        return Block(0.0, fault=self.faults[place])

    def _program(self, cell: Cell, arm: Arm, n: int) -> Block:
        file, count = self.settings.file, cell.x

        def are_right(results: list[Any]) -> bool:
            expected = _expected(file, count)
            return len(results) == len(expected) and all(map(functions(file).same, results, expected))

        return programs.block(file, arm.runs, count, self.settings.engines, n, are_right)


_drive, _serve = flooding(METRICS, tasks)


@contextmanager
def drive(peers: Peers, settings: Settings) -> Iterator[Guard]:
    """Time the function, then start the farms."""
    with unfold(settings.sources):
        began = time.perf_counter()
        code = functions(settings.file)
        _import_seconds[settings.file] = time.perf_counter() - began
        try:
            (item,) = code.items(1)[:1]
            for _ in ("cold", "warm"):
                arguments = code.arguments(renewed(item), kept(settings.file))
                began = time.perf_counter()
                code.task(*arguments)
                _item_seconds[settings.file] = time.perf_counter() - began
        except FAILURES as error:
            raise CrossoverError(f"{settings.file} fails: {reason_of(error, settings.file)}; correct it") from error
        elsewhere = _elsewhere(settings)
        with _drive(peers, settings) as floods:
            yield Guard(floods, settings, elsewhere)


def serve(peers: Peers, settings: Settings) -> None:
    """Run an engine."""
    with unfold(settings.sources):
        _serve(peers, settings)
