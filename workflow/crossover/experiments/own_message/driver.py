"""A user's object to another process and back, or one after another, in every way that carries it.

The user's file has a function `message(count)`, which returns the object, and may have `same(got, sent)`. Both ends
call `message` before a block, and send what it returned. A block of round trips is n objects there and n back, one at a
time; a block of a stream is n objects there, and a word back when the other end has taken the last. Both ends compare
the last object that they received with their own.

The other end is rank 1, or a child of rank 0 for the ways of `multiprocessing`, which need one. Each end tries each arm
with each object once, before it is timed: an arm that raises, or from which another object comes, is a hole.
"""

from __future__ import annotations

import math
import multiprocessing
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from time import perf_counter
from typing import Any, NamedTuple

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.design.config import ObjectLook, too_slow
from crossover.errors import CrossoverError
from crossover.experiments.own_message import TO_CHILD, TO_RANK, Settings, ways
from crossover.measure.farms.user_code import equal, imported, reason_of, refusing_prints, unfold
from crossover.measure.messages.loops import WORD, Way
from crossover.measure.ranks import allocator, cores
from crossover.measure.ranks.children import Children, begin
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import DAMAGED, Block

STREAM = "stream"
MOST_BYTES = 100_000_000
"""A larger object is left out, because each end has several copies of it."""
GROWTH = 4
"""Counts are tried in such steps, so that none is far larger than one that fits."""
LOOK_BYTES, LOOK_SECONDS, MOST_COUNT = 3_000_000, 0.1, 1_000_000
"""A first look ends with an object that is larger or slower, or has so many items."""

_most = math.inf
"""The largest count that is measured, once the driver knows the object."""


def cells(settings: Settings) -> list[Cell]:
    """One cell per pattern, binding and count that is not left out; streams, and ends on two hosts, are free."""
    near = settings.placement != "nodes"
    arms = tuple(arm for arm in settings.arms if arm in TO_RANK or near)
    curves = [
        {"pattern": pattern} | ({"binding": binding} if binding else {})
        for pattern in settings.patterns
        for binding in (settings.bindings if near and pattern != STREAM else ("",))
    ]
    return [Cell(keys, count, arms) for keys in curves for count in settings.counts if count <= _most]


def difference(got: Any, sent: Any) -> str:
    """How an object arrived otherwise than it was sent, in words; empty if it did not. Types count, unlike in `equal`.

    >>> difference([1, ("a", 2)], [1, ("a", 2)]), difference([1, ["a", 2]], [1, ("a", 2)])
    ('', 'tuple arrives as list')
    """
    kind = type(sent).__name__
    if type(got) is not type(sent):
        return f"{kind} arrives as {type(got).__name__}"
    if isinstance(sent, Mapping):
        if got.keys() != sent.keys():
            return f"{kind} arrives with other keys"
        pairs: Iterable[tuple[Any, Any]] = ((got[key], value) for key, value in sent.items())
    elif isinstance(sent, (list, tuple)):
        if len(got) != len(sent):
            return f"{kind} arrives with another length"
        pairs = zip(got, sent, strict=True)
    else:
        return "" if equal(got, sent) else f"{kind} arrives with another value; if it is right, add same(got, sent)"
    return next(filter(None, (difference(*pair) for pair in pairs)), "")


class Line(NamedTuple):
    """The commands to the other end, and its answers."""

    send: Callable[[Any], None]
    receive: Callable[[], Any]


class Command(NamedTuple):
    """What the other end must know of a block, or with n = 0 of a trial."""

    arm: str
    x: int
    n: int
    is_stream: bool
    cpus: cores.Cpus = frozenset()
    """The logical processors of the other end."""


class End:
    """One end: the user's functions, and the ways from here. Raises CrossoverError for a file that is not imported."""

    def __init__(self, file: str):
        self.file, self.module = file, imported(file)
        self.ways: ways.Ways = {}
        self.value = lru_cache(maxsize=1)(self._value)

    def _value(self, count: int) -> Any:
        """What `message` returns; the allocator is as in a program with such messages."""
        value = self.module.message(count)
        with suppress(Exception):
            allocator.settle(ways.describe(value).pickled_bytes)
        return value

    def way(self, arm: str, count: int) -> Way:
        """The way of this arm for such an object."""
        return self.ways[arm](self.value(count))

    def fault(self, arm: str, count: int) -> str:
        """Why this arm cannot carry the object, as far as one process can tell; empty if it can."""
        try:
            value = self.value(count)
        except Exception as error:
            return f"message({count}) fails: {reason_of(error, self.file)}"
        try:
            form = ways.FORMS[arm](value)
            got = form.unpack(form.pack(value))
        except Exception as error:
            return said(error)
        return self.changed(got, value)

    def taken(self, way: Way, value: Any) -> str:
        """Receive an object; returns why it is not the one that was sent, or an empty text."""
        try:
            got = way.receive()
        except Exception as error:
            return f"it does not arrive: {said(error)}"
        return self.changed(got, value)

    def changed(self, got: Any, value: Any) -> str:
        """How a received object differs from this end's; empty if it does not."""
        try:
            if same := getattr(self.module, "same", None):
                return "" if same(got, value) else "same(got, sent) says that another object arrives"
            return difference(got, value)
        except Exception as error:
            return f"it cannot be compared: {reason_of(error, self.file)}; add same(got, sent)"


class Sender:
    """Rank 0: tries each arm, then commands the other end, sends, and keeps the time."""

    def __init__(self, end: End, lines: Mapping[str, Line], left_out: Sequence[int]):
        self.end, self.lines, self.left_out = end, lines, left_out
        self.faults: dict[tuple[str, int], str] = {}
        self._sizes: dict[int, str] = {}

    @property
    def notes(self) -> str:
        """What the objects are when pickled, and the counts that are left out, or that no way carries."""
        faults = {count: [own for (_, x), own in self.faults.items() if x == count] for _, count in self.faults}
        return "; ".join(
            [self._sizes[count] for count in sorted(self._sizes)]
            + [f"message({count}) is left out, because it is too large or too slow" for count in self.left_out]
            + [f"message({count}) is not measured: {own[0]}" for count, own in sorted(faults.items()) if all(own)]
        )

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Send `n` objects of `cell.x` items."""
        name, count, is_stream = arm.runs, cell.x, cell.keys["pattern"] == STREAM
        if (name, count) not in self.faults:
            self.faults[name, count] = self._tried(name, count)
        if count not in self._sizes:
            with suppress(Exception):
                self._sizes[count] = f"message({count}) is {ways.describe(self.end.value(count))}"
        if fault := self.faults[name, count]:
            return Block(0.0, fault=fault)
        if (theirs := cores.take(cell.keys)) is None:
            return Block(0.0, fault=cores.ONE_CORE)
        line, way, value = self.lines[name], self.end.way(name, count), self.end.value(count)
        line.send(Command(name, count, n, is_stream, theirs))
        line.receive()
        began = perf_counter()
        got = way.pour(value, n) if is_stream else way.ping(value, n)
        seconds = perf_counter() - began
        changed = not (type(got) is bytes and got == WORD) if is_stream else self.end.changed(got, value)
        if line.receive() or changed or way.is_readable():
            return Block(seconds, fault=DAMAGED)
        return Block(seconds, {"throughput": n / seconds} if is_stream else {"round trip": seconds / n})

    def _tried(self, arm: str, count: int) -> str:
        """Send the object there and back once; returns why that is not possible, or an empty text."""
        if fault := self.end.fault(arm, count):
            return fault
        line, way, value = self.lines[arm], self.end.way(arm, count), self.end.value(count)
        line.send(Command(arm, count, 0, False))
        if fault := line.receive():
            return str(fault)
        way.send(value)
        return line.receive() or self.end.taken(way, value)


def follow(end: End, line: Line) -> None:
    """The other end: follow commands until there is none."""
    while command := line.receive():
        arm, count, n, is_stream, cpus = command
        if n:
            cores.pin(cpus)
            value, way = end.value(count), end.way(arm, count)
            line.send("ready")
            got = way.drain(value, n) if is_stream else way.pong(value, n)
            line.send(bool(end.changed(got, value) or way.is_readable()))
            continue
        fault = end.fault(arm, count)
        line.send(fault)
        if not fault:
            value, way = end.value(count), end.way(arm, count)
            fault = end.taken(way, value)
            line.send(fault)
            if not fault:
                way.send(value)


def child(commands: Any, ends: ways.Ends, file: str, started: Any) -> None:
    """The child of rank 0, which finds the user's file where its parent does."""
    begin(started)
    end = End(file)
    end.ways = ways.with_child(ends, 1)
    follow(end, Line(commands.send, commands.recv))


@contextmanager
def parent_of_child(file: str, longest_bytes: int) -> Iterator[tuple[Line, ways.Ways]]:
    """Start the child, and end it; gives the line to it, and the ways."""
    spawn = multiprocessing.get_context("spawn")
    children = Children(spawn, "the child of own_message", 1)
    ends = ways.Ends.made(spawn, longest_bytes)
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=child, args=(theirs, ends, file, children.started), daemon=True)
    process.start()
    children.all_made()
    with children.watched():
        # Without our copies of its ends, we see the child's end instead of waiting for it.
        theirs.close()
        ends.pipes[1].close()
        children.await_start()
        for block in ends.blocks:
            block.unlink()
        yield Line(ours.send, ours.recv), ways.with_child(ends, 0)
    ours.send(None)
    process.join()
    for queue in ends.queues:
        queue.close()


def fitting(end: End, settings: Settings) -> tuple[int, int]:
    """The largest count that is not left out, and the bytes of its object when pickled; 0 bytes if it cannot be."""
    most, size = 0, 0
    for count in sorted(settings.counts):
        tried = most
        while tried < count:
            tried = min(count, GROWTH * tried or 1)
            seconds, tried_bytes = _cost(end, tried)
            is_slow = most and too_slow(seconds, len(settings.arms), settings.seconds)
            if tried_bytes > MOST_BYTES or is_slow:
                return most, size
        most, size = count, tried_bytes
    return most, size


def _cost(end: End, count: int) -> tuple[float, int]:
    """The seconds to pickle and unpickle an object, and its bytes when pickled; nothing if it cannot be."""
    with suppress(Exception):
        value, began = end.value(count), perf_counter()
        pickle.loads(pickle.dumps(value, protocol=5))
        return perf_counter() - began, ways.describe(value).pickled_bytes
    return 0.0, 0


@contextmanager
def drive(peers: Peers, settings: Settings) -> Iterator[Sender]:
    """Look at the object, start the child, and connect to rank 1."""
    global _most
    peers.require_apart()
    channel = peers.channel(to=1)
    with ExitStack() as stack:
        stack.enter_context(unfold(settings.sources))
        end = End(settings.file)
        _most, size = fitting(end, settings)
        line = Line(channel.send, channel.receive)
        end.ways |= stack.enter_context(ways.between_ranks(peers, channel))
        lines = dict.fromkeys(TO_RANK, line)
        if settings.placement != "nodes" and {*TO_CHILD} & {*settings.arms}:
            to_child, own = stack.enter_context(parent_of_child(settings.file, size))
            end.ways |= own
            lines |= dict.fromkeys(TO_CHILD, to_child)
        yield Sender(end, lines, [count for count in sorted(settings.counts) if count > _most])
        channel.send(None)
    _most = math.inf


def serve(peers: Peers, settings: Settings) -> None:
    """Be the other end of the ways between ranks."""
    peers.require_apart()
    channel = peers.channel(to=0)
    with unfold(settings.sources), ways.between_ranks(peers, channel) as own:
        end = End(settings.file)
        end.ways = own
        follow(end, Line(channel.send, channel.receive))


def look(file: str, sources: Mapping[str, str]) -> ObjectLook:
    """Call `message` of a user's file with 1, 10 and so on, until an object is large or slow, and pickle each object.

    Raises CrossoverError, in one line, where that fails.
    """
    counts, sizes, seconds = [1], list[int](), list[float]()
    try:
        with unfold(sources), refusing_prints(file):
            began = perf_counter()
            end = End(file)
            import_seconds = perf_counter() - began
            while True:
                value, began = end.module.message(counts[-1]), perf_counter()
                got = pickle.loads(pickle.dumps(value, protocol=5))
                seconds.append(perf_counter() - began)
                facts = ways.describe(value)
                sizes.append(facts.pickled_bytes)
                fault = end.changed(got, value)
                if not fault and end.changed(end.module.message(counts[-1]), value):
                    raise CrossoverError(
                        f"{file}: message({counts[-1]}) gives another object at each call; seed what is random"
                    )
                is_last = seconds[-1] > LOOK_SECONDS or sizes[-1] > LOOK_BYTES or counts[-1] >= MOST_COUNT
                if sizes[0] > MOST_BYTES:
                    raise CrossoverError(
                        f"{file}: message(1) has {sizes[0] / 1e6:.0f} MB when pickled, and at most "
                        f"{MOST_BYTES / 1e6:.0f} MB are measured: each end has several copies; return a part of it"
                    )
                if fault or is_last:
                    break
                counts.append(10 * counts[-1])
    except CrossoverError:
        raise
    except Exception as error:
        raise CrossoverError(f"{file}: message({counts[-1]}) cannot be sent: {said(error)}; correct it") from error
    if fault:
        raise CrossoverError(f"{file}: message({counts[-1]}) arrives changed when it is pickled: {fault}")
    kind = type(value).__name__
    return ObjectLook(counts, sizes, seconds, kind, facts.buffer_count, facts.out_of_band_share, import_seconds)


def said(error: Exception) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
