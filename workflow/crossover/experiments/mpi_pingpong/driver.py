"""Round trips of an object between two ranks of MPI: pickled, pickled out of band, or as a buffer; with ceilings.

`send` and `Send` are the pairs of calls that the mpi4py tutorial times: each rank sends an object of its own, and rank
1 answers every message. The other arms change one thing each. `pkl5.send` keeps large buffers out of the pickle.
`persistent` sets up the calls for buffers once. `Send into new array` allocates an array for each received message.
`send into buffer` receives the pickle into memory that is reused (`irecv`); that also avoids the matched probe, but
unpickling still allocates. Buffers are received into a separate inbox, which is cleared before the block and checked
after it.

The object `float64 array, re-sent` is exactly the tutorial's: a buffer is received into the array that is sent, so each
message was written shortly before, by the previous one.

Ceilings move the same number of bytes through the same buffers: the memory of an array or bytes object, or the pickle.

The two ends are plain ranks, or ranks that are also engines of ipyparallel, as in the tutorial. Between blocks, a plain
rank 1 polls a non-blocking broadcast and sleeps in between, and an engine waits in its event loop. A block is then one
task for each engine. Inside a block, both ends wait in MPI and spin, because that is part of the measurement; in an
engine, too, this happens in the main thread.
"""

import os
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from operator import itemgetter

import numpy as np

from crossover.design.arm import Arm, arms_of
from crossover.design.cell import Cell
from crossover.design.settings import entries
from crossover.experiments.mpi_pingpong import PLAYERS, Settings
from crossover.measure.farms import Farm, enter, join, running
from crossover.measure.messages.mpi_objects import ARRAY, BUFFERS, Kind, Payload, RoundTrips, payload, round_trips
from crossover.measure.native import ceiling_mpi, ceiling_raw
from crossover.measure.native.ceiling import Exchange
from crossover.measure.native.loader import UnavailableError
from crossover.measure.ranks.channel import WAIT_SECONDS, kept_apart
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import DAMAGED, Block

OBJECTS = {"Send": BUFFERS, "persistent": BUFFERS} | dict.fromkeys(
    ("Send into new array", "pkl5.send in band", "pkl5.send out of band"), (ARRAY,)
)
"""The objects that these arms can send; all other arms can send any."""

ALONE = ("memcpy",)
"""Ceilings that one process measures while the other sleeps. They copy between two pieces of memory."""

ASLEEP_SECONDS = 50e-6
"""The time between two polls of MPI by a rank that must not spin."""

LEAD_IN = 8
"""A block of n trips begins with n // LEAD_IN untimed ones, because the first trips are slower."""

STOP = -1


def cells(settings: Settings) -> list[Cell]:
    """One cell per object and array length, with the arms that can send such an object."""
    found = []
    for kind in kinds(settings):
        fit = [arm for arm in arms_of(settings) if not arm.null and _fits(arm.runs, kind)]
        if not all(arm.ceiling for arm in fit):
            keys = kind._asdict() | {"thread_level": settings.thread_level, **PLAYERS[settings.players[0]]}
            names = tuple(arm.runs for arm in fit)
            found += [Cell(keys, elements, names) for elements in settings.elements]
    return found


def kinds(settings: Settings) -> list[Kind]:
    """The configured kinds of objects."""
    return [Kind(**entries(Settings, "objects")[name]) for name in settings.objects]


def _kind(cell: Cell) -> Kind:
    return Kind(cell.keys["object"], cell.keys["re_sent"])


def _fits(arm: str, kind: Kind) -> bool:
    return not kind.re_sent if arm in ALONE else kind.object in OBJECTS.get(arm, (kind.object,))


class Player:
    """One end of the ping-pong, with the payload of the current cell, and the ceilings that can be measured.

    `peers` are the two ends. Raises Refusal if they share a host in placement `nodes`.
    """

    def __init__(self, peers: Peers, settings: Settings, resources: ExitStack):
        peers.require_apart()
        self.comm, self.rank, self.other = peers.comm, peers.rank, 1 - peers.rank
        self.payload = lru_cache(maxsize=1)(partial(payload, rank=peers.rank))
        self.ceilings: dict[str, Exchange] = {}
        self.unavailable: dict[str, str] = {}
        for name in settings.ceilings:
            reason = ""
            try:
                self.ceilings[name] = _ceiling(name, peers, resources)
            except UnavailableError as error:
                reason = str(error)
            # A ceiling needs both ends.
            if reasons := list(filter(None, self.comm.allgather(reason))):
                self.unavailable[name] = reasons[0]

    def meet(self) -> None:
        """Sleep until the other end is here: the two tasks arrive at different times, and the second needs a core."""
        both = self.comm.Ibarrier()
        while not both.Test():
            time.sleep(ASLEEP_SECONDS)

    def play(self, arm: str, kind: Kind, elements: int, n: int) -> Block:
        """Run this end's part of a block of `n` round trips; both ends check their messages, and share the result."""
        if arm in self.unavailable:
            return Block(0.0, fault=self.unavailable[arm])
        present = self.payload(kind, elements)
        present.reset()
        play = self._round_trips(arm, present)
        if arm in ALONE:
            seconds, got = play(n)
            undamaged = present.arrived(got)
        else:
            self.comm.Barrier()  # so that the other end is awake
            if n >= LEAD_IN:
                play(n // LEAD_IN)
                present.reset()
                self.comm.Barrier()
            seconds, got = play(n)
            ours, theirs = np.array([present.arrived(got)], dtype=np.uint8), np.zeros(1, dtype=np.uint8)
            self.comm.Sendrecv(ours, self.other, recvbuf=theirs, source=self.other)
            undamaged = bool(ours[0] and theirs[0])
        if not undamaged:
            return Block(seconds, fault=DAMAGED)
        return Block(seconds, {"round trip": seconds / n})

    def _round_trips(self, arm: str, present: Payload) -> RoundTrips:
        if exchange := self.ceilings.get(arm):
            return lambda n: (exchange(present.bytes_out, present.bytes_in, n), None)
        return round_trips(arm, self.comm, present)


def _ceiling(name: str, peers: Peers, resources: ExitStack) -> Exchange:
    """One ceiling. A raw socket to the other rank, `TCP` or `Unix`, stays open in `resources`."""
    if name == "C":
        return ceiling_mpi.pingpong(peers.comm, 1 - peers.rank)
    if name == "memcpy":
        return ceiling_raw.memcpy()
    if peers.rank == 0:
        connection = ceiling_raw.connect(*peers.receive(1))
    else:
        with ceiling_raw.listen(name.split()[1], peers.address) as listening:
            secret = os.urandom(16)
            peers.send((listening.getsockname(), secret), to=0)
            found = ceiling_raw.accept(listening, secret, WAIT_SECONDS)
        if found is None:
            raise kept_apart(f"no end connected to a {name}")
        connection = found
    return ceiling_raw.pingpong(resources.enter_context(connection), first=peers.rank == 0)


# ---- between plain ranks


class Ranks:
    """One of two plain ranks: rank 0 commands blocks and runs them with rank 1."""

    def __init__(self, peers: Peers, settings: Settings, resources: ExitStack):
        self.player = Player(peers, settings, resources)
        self.commands = peers.comm.Dup()
        self.pairs = [(arm.runs, kind) for arm in arms_of(settings) if not arm.null for kind in kinds(settings)]

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """On rank 0: command and run a block. For arms in ALONE, the other rank stays asleep."""
        if arm.runs not in ALONE:
            self._command(self.pairs.index((arm.runs, _kind(cell))), cell.x, n)
        return self.player.play(arm.runs, _kind(cell), cell.x, n)

    def stop(self) -> None:
        """On rank 0: stop the other rank."""
        self._command(STOP, 0, 0)

    def obey(self) -> None:
        """On rank 1: run blocks until stopped."""
        while (words := self._command())[0] != STOP:
            pair, elements, n = words
            self.player.play(*self.pairs[pair], elements, n)

    def _command(self, *words: int) -> list[int]:
        """Broadcast (pair, elements, n) from rank 0. Rank 1 gives no words, and sleeps until they arrive."""
        buffer = np.array(words if words else (0, 0, 0), dtype=np.int64)
        request = self.commands.Ibcast(buffer, root=0)
        while not request.Test():
            time.sleep(0 if words else ASLEEP_SECONDS)
        return [int(word) for word in buffer]


# ---- between engines

ENGINES = (1, 2)
"""The ranks that become engines; rank 0 is their client."""

here: Player | None = None
"""The player of this process, if it is an engine. A global, because tasks need it."""


@dataclass(frozen=True)
class Engines:
    """The client of the two engines: a block is a task for each of them."""

    farm: Farm

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Run the block on both engines, or on any one for arms in ALONE. The times are those of the first end."""
        ends = 1 if arm.runs in ALONE else len(ENGINES)
        self.farm.submit(task, [(arm.runs, _kind(cell), cell.x, n)] * ends)
        results: list[tuple[int, Block]] = self.farm.wait()
        return min(results, key=itemgetter(0))[1]


def task(words: tuple[str, Kind, int, int]) -> tuple[int, Block]:
    """On an engine: run its part of a block; returns the number of this end and its block."""
    assert here is not None
    try:
        if words[0] not in ALONE:
            here.meet()
        return here.rank, here.play(*words)
    except BaseException:
        # Otherwise the engine would keep the error for its client, while the other end waits in MPI.
        traceback.print_exc()
        here.comm.Abort(1)


# ---- either


@contextmanager
def drive(peers: Peers, settings: Settings) -> Iterator[Ranks | Engines]:
    """Connect the two ends, and stop them at the end."""
    if settings.player == "engine":
        farm = enter(peers, ENGINES, len(ENGINES), settings.entrants["engine"])
        with running(peers, [farm]):
            yield Engines(farm)
        return
    with ExitStack() as resources:
        ranks = Ranks(peers, settings, resources)
        yield ranks
        ranks.stop()


def serve(peers: Peers, settings: Settings) -> None:
    """Run blocks on every other rank until stopped."""
    global here
    with ExitStack() as resources:
        if settings.player == "engine":
            here = Player(peers.among(ENGINES), settings, resources)
            join(peers, settings.entrants["engine"])
        else:
            Ranks(peers, settings, resources).obey()
