"""An object to another rank and back: pickled, pickled out of band, or as a buffer; and what bounds all of these.

`send` and `Send` are the pairs of calls that the mpi4py tutorial times: both ranks send an object they already have,
rank 1 answers each message it got. Other arms change one thing each: `pkl5.send` keeps large buffers out of the pickle,
`persistent` sets up the buffers' calls once, and `Send into new array` is `Send` that allocates an array for each
message it receives. `send into buffer` receives the pickle into memory that is reused (`irecv`); that also avoids the
matched probe, and unpickling still allocates. Received buffers go to one of their own, emptied before the block, so
that what came can be checked after.

The kind `float64 array, re-sent` is that tutorial's to the letter: a buffer is received into the array that it is sent
from, so what is sent was written a moment ago, by the message before.

Ceilings move as many bytes through the same buffers: an array's or a bytes object's own, else those of its pickle.

The two ends are plain ranks, or ranks that are engines of ipyparallel as well, as in that tutorial. Between blocks a
plain rank 1 waits for a command in a non-blocking broadcast that it polls asleep, and an engine waits in its own event
loop; a block is a task for each of the two engines. Inside a block both ends wait in MPI, spinning, because that is the
thing measured: in an engine too it happens in the process's main thread.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from operator import itemgetter
from typing import Any

import numpy as np

from crossover.measure.build.loader import UnavailableError
from crossover.measure.ceilings import Exchange, memory, mpi, stream
from crossover.measure.farms import Farm, enter, join, running
from crossover.measure.mpi.payload import RE_SENT, Payload, payload
from crossover.measure.mpi.round_trips import Game, game
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Axis, Block, Cell, Metric
from crossover.planning.curves import NAMED
from crossover.planning.plan import Arm, points
from crossover.planning.plan import arms as arms_of

AXIS = Axis("array length", "elements")
METRICS = (Metric("round trip", "s", "lower"),)

LIBRARIES = {
    "C": "mpi_pingpong",
    "raw TCP": "stream_pingpong",
    "raw Unix socket": "stream_pingpong",
    "memcpy": "memory_copy",
}
"""The library that each ceiling is in; read by the workflow, which builds them."""

FOR_BUFFERS = ("Send", "persistent", "Send into new array")
"""Arms that take nothing but a buffer."""

FOR_ARRAYS = ("Send into new array",)
"""Arms that take nothing but an array."""

ALONE = ("memcpy",)
"""Ceilings that one process measures by itself, while the other sleeps: copies, which take two pieces of memory."""

ASLEEP_SECONDS = 50e-6
"""Between two looks at what MPI has for a rank that must not spin."""

LEAD_IN = 8
"""One in so many trips is played before the clock starts: the first are slower. A block of few has none."""

STOP = -1


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per object and array length, with the arms that can send such an object."""
    entered = [arm for arm in arms_of(settings) if not arm.null]
    found = []
    for kind in settings["objects"]:
        fit = [arm for arm in entered if _fits(arm.runs, kind)]
        if any(not arm.ceiling for arm in fit):
            keys = NAMED[kind] | {"thread_level": settings["thread_level"], "player": settings["player"]}
            names = tuple(arm.runs for arm in fit)
            found += [Cell(keys, elements, kind, names) for elements in points(settings["elements"])]
    return found


def _fits(arm: str, kind: str) -> bool:
    if arm in ALONE:
        return kind != RE_SENT
    if arm in FOR_ARRAYS:
        return Payload.is_array(kind)
    return arm not in FOR_BUFFERS or Payload.is_buffer(kind)


class Player:
    """One end of the game, with the object of the present kind and length, and the ceilings that can be measured.

    `peers` are the two ends. Raises Refusal where they are to be on two hosts and are not.
    """

    def __init__(self, peers: Peers, settings: dict[str, Any], resources: ExitStack):
        peers.require_apart()
        self.comm = peers.comm
        self.rank = peers.rank
        self.other = 1 - peers.rank
        self.payload = payload(settings["objects"][0], 1, self.rank)
        self.ceilings: dict[str, Exchange] = {}
        self.unavailable: dict[str, str] = {}
        for name in settings["ceilings"]:
            self._set_up(name, peers, resources)

    def _set_up(self, name: str, peers: Peers, resources: ExitStack) -> None:
        """Make a ceiling, or learn why not: both ends together, because neither can play alone."""
        reason = ""
        try:
            self.ceilings[name] = _make(name, peers, resources)
        except UnavailableError as error:
            reason = str(error)
        reasons = [told for told in peers.comm.allgather(reason) if told]
        if reasons:
            self.unavailable[name] = reasons[0]

    def meet(self) -> None:
        """Wait, asleep, for the other end: tasks arrive some time apart, and what brings the second needs a core."""
        both = self.comm.Ibarrier()
        while not both.Test():
            time.sleep(ASLEEP_SECONDS)

    def play(self, arm: str, kind: str, elements: int, n: int) -> Block:
        """This end's part of a block: `n` round trips, and whether all arrived undamaged, here and there."""
        if arm in self.unavailable:
            return Block(0.0, fault=self.unavailable[arm])
        present = self._present(kind, elements)
        present.reset()
        play = self._game(arm, present)
        if arm in ALONE:
            seconds, got = play(n)
            undamaged = present.arrived(got)
        else:
            self.comm.Barrier()  # the other end has woken up
            if n >= LEAD_IN:
                play(n // LEAD_IN)
                present.reset()
                self.comm.Barrier()
            seconds, got = play(n)
            ours, theirs = np.array([present.arrived(got)], dtype=np.uint8), np.zeros(1, dtype=np.uint8)
            self.comm.Sendrecv(ours, self.other, recvbuf=theirs, source=self.other)
            undamaged = bool(ours[0] and theirs[0])
        if not undamaged:
            return Block(seconds, fault="lost or damaged messages")
        return Block(seconds, {"round trip": seconds / n})

    def _present(self, kind: str, elements: int) -> Payload:
        if (self.payload.kind, self.payload.elements) != (kind, elements):
            self.payload = payload(kind, elements, self.rank)
        return self.payload

    def _game(self, arm: str, present: Payload) -> Game:
        if arm not in self.ceilings:
            return game(arm, self.comm, present)
        exchange = self.ceilings[arm]
        return lambda n: (exchange(present.bytes_out, present.bytes_in, n), None)


def _make(name: str, peers: Peers, resources: ExitStack) -> Exchange:
    """One ceiling, its connection to the other rank kept open in `resources`."""
    match name:
        case "C":
            return mpi.pingpong(peers.comm, 1 - peers.rank)
        case "memcpy":
            return memory.pingpong()
        case _:
            connection = resources.enter_context(_connection(name.split()[1], peers))
            return stream.pingpong(connection, first=peers.rank == 0)


def _connection(kind: str, peers: Peers) -> Any:
    """A raw socket between the two ranks, `TCP` or `Unix`."""
    if peers.rank == 0:
        return stream.connect(peers.receive(1))
    with stream.listen(kind, peers.address) as listening:
        peers.send(listening.getsockname(), to=0)
        return listening.accept()[0]


# ---- between plain ranks


class Ranks:
    """Two plain ranks, seen from either: rank 0 orders blocks and plays them with rank 1."""

    def __init__(self, peers: Peers, settings: dict[str, Any], resources: ExitStack):
        self.player = Player(peers, settings, resources)
        self.commands = peers.comm.Dup()
        self.arms = [arm.runs for arm in arms_of(settings) if not arm.null]
        self.kinds: list[str] = settings["objects"]

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """On rank 0: order a block, play it. What takes this process alone leaves the other rank asleep."""
        if arm.runs not in ALONE:
            self._command(self.arms.index(arm.runs), self.kinds.index(cell.variant), cell.x, n)
        return self.player.play(arm.runs, cell.variant, cell.x, n)

    def stop(self) -> None:
        """On rank 0: let the other go."""
        self._command(STOP, 0, 0, 0)

    def obey(self) -> None:
        """On rank 1: play until told to stop."""
        while (words := self._command())[0] != STOP:
            arm, kind, elements, n = words
            self.player.play(self.arms[arm], self.kinds[kind], elements, n)

    def _command(self, *words: int) -> list[int]:
        """Broadcast (arm, kind, elements, n) from rank 0; the other sleeps until it comes."""
        buffer = np.array(words if words else (0, 0, 0, 0), dtype=np.int64)
        request = self.commands.Ibcast(buffer, root=0)
        while not request.Test():
            time.sleep(0 if words else ASLEEP_SECONDS)
        return [int(word) for word in buffer]


# ---- between engines

ENGINES = (1, 2)
"""The ranks that become engines; rank 0 is their client."""

here: Player | None = None
"""The player of this process, if it is an engine: tasks find it by its name."""


class Engines:
    """Two engines, seen from their client: a block is a task for each of them."""

    def __init__(self, farm: Farm):
        self.farm = farm

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Let both play, or either what takes one process alone. What the first end has timed is what counts."""
        ends = 1 if arm.runs in ALONE else len(ENGINES)
        self.farm.submit(task, [(arm.runs, cell.variant, cell.x, n)] * ends)
        told: list[tuple[int, Block]] = self.farm.wait()
        return min(told, key=itemgetter(0))[1]


def task(words: tuple[str, str, int, int]) -> tuple[int, Block]:
    """On an engine: play; returns which end this is and its block."""
    assert here is not None
    try:
        if words[0] not in ALONE:
            here.meet()
        return here.rank, here.play(*words)
    except BaseException:
        # An engine would keep the error for its client, and leave the other end to wait in MPI.
        traceback.print_exc()
        here.comm.Abort(1)


# ---- whichever the launch asks for


@contextmanager
def drive(peers: Peers, settings: dict[str, Any]) -> Iterator[Ranks | Engines]:
    """Order blocks on rank 0."""
    if settings["player"] == "engine":
        farm = enter(peers, ENGINES, settings["entrants"]["engine"])
        with running(peers, [farm]):
            yield Engines(farm)
        return
    with ExitStack() as resources:
        ranks = Ranks(peers, settings, resources)
        yield ranks
        ranks.stop()


def serve(peers: Peers, settings: dict[str, Any]) -> None:
    """Play on every other rank until told to stop."""
    global here
    with ExitStack() as resources:
        if settings["player"] == "engine":
            here = Player(peers.among(ENGINES), settings, resources)
            join(peers, settings["entrants"]["engine"])
        else:
            Ranks(peers, settings, resources).obey()
