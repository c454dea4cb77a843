"""An object to another rank and back: pickled, pickled out of band, or as a buffer; and what bounds all of these.

`send` and `Send` are the pairs of calls that the mpi4py tutorial times: both ranks send an object they already have,
rank 1 answers each message it got. The other arms change one thing each: `pkl5.send` keeps large buffers out of the
pickle, `send into buffer` receives the pickle into memory that is reused (`irecv`), `persistent` sets up the buffers'
calls once. Received buffers go to one of their own, emptied before the block, so that what came can be checked after.

Ceilings move as many bytes through the same buffers: an array's or a bytes object's own, else those of its pickle.

Between blocks rank 1 waits for a command in a non-blocking broadcast that it polls asleep; inside a block
both ranks wait in MPI, spinning, because that is the thing measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import perf_counter
from typing import Any

import numpy as np
from mpi4py.util import pkl5

from crossover.measure.blocks import Axis, Block, Cell, Metric
from crossover.measure.ceilings import Exchange, memory, mpi, stream
from crossover.measure.native import UnavailableError
from crossover.measure.payload import Payload
from crossover.measure.peers import LOOPBACK, Peers
from crossover.plan import Arm, points
from crossover.plan import arms as arms_of

AXIS = Axis("array length", "elements")
METRICS = (Metric("round trip", "s", "lower"),)

LIBRARIES = {
    "C": "mpi_pingpong",
    "raw TCP": "stream_pingpong",
    "raw Unix socket": "stream_pingpong",
    "memcpy": "memory_copy",
}
"""The library that each ceiling is in; read by the workflow, which builds them."""

FOR_BUFFERS = ("Send", "persistent")
"""Arms that take nothing but a buffer."""

STOP = -1


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per object and array length, with the arms that can send such an object."""
    entered = [arm for arm in arms_of(settings) if not arm.null]
    found = []
    for kind in settings["objects"]:
        fit = [arm for arm in entered if Payload.is_buffer(kind) or arm.runs not in FOR_BUFFERS]
        if any(not arm.ceiling for arm in fit):
            protocol = f"{kind}, thread level {settings['thread_level']}"
            names = tuple(arm.runs for arm in fit)
            found += [Cell(protocol, elements, kind, names) for elements in points(settings["elements"])]
    return found


class Player:
    """One rank of the game, with the object of the present kind and length, and the ceilings that can be measured."""

    def __init__(self, peers: Peers, settings: dict[str, Any], resources: ExitStack):
        self.comm = peers.comm
        self.commands = peers.comm.Dup()
        self.rank = peers.rank
        self.other = 1 - peers.rank
        self.arms = [arm.runs for arm in arms_of(settings) if not arm.null]
        self.kinds: list[str] = settings["objects"]
        self.payload = Payload(self.kinds[0], 1)
        self.ceilings: dict[str, Exchange] = {}
        self.unavailable: dict[str, str] = {}
        for name in settings["ceilings"]:
            self._set_up(name, peers, resources)

    def _set_up(self, name: str, peers: Peers, resources: ExitStack) -> None:
        """Make a ceiling, or learn why not: all ranks together, because neither can play alone."""
        reason = ""
        try:
            self.ceilings[name] = _make(name, peers, resources)
        except UnavailableError as error:
            reason = str(error)
        reasons = [told for told in peers.comm.allgather(reason) if told]
        if reasons:
            self.unavailable[name] = reasons[0]

    def command(self, *words: int) -> tuple[int, int, int, int]:
        """Broadcast (arm, kind, elements, n) from rank 0; the others sleep until it comes."""
        buffer = np.array(words if words else (0, 0, 0, 0), dtype=np.int64)
        request = self.commands.Ibcast(buffer, root=0)
        while not request.Test():
            time.sleep(0 if self.rank == 0 else 50e-6)
        arm, kind, elements, n = map(int, buffer)
        return arm, kind, elements, n

    def play(self, arm: int, kind: int, elements: int, n: int) -> tuple[float, bool]:
        """`n` round trips; their seconds, and whether all arrived undamaged."""
        payload = self._present(kind, elements)
        payload.empty()
        game = self._game(self.arms[arm], payload)
        self.comm.Barrier()  # rank 1 has woken up
        seconds, got = game(n)
        undamaged = np.array([payload.equals(got)], dtype=np.uint8)
        theirs = np.zeros(1, dtype=np.uint8)
        self.comm.Sendrecv(undamaged, self.other, recvbuf=theirs, source=self.other)
        return seconds, bool(undamaged[0] and theirs[0])

    def _present(self, kind: int, elements: int) -> Payload:
        if (self.payload.kind, self.payload.elements) != (self.kinds[kind], elements):
            self.payload = Payload(self.kinds[kind], elements)
        return self.payload

    def _game(self, name: str, payload: Payload) -> Callable[[int], tuple[float, Any]]:
        """What plays the arm `name`: n round trips, their seconds, and what came last (None: see the inbox)."""
        comm, message, inbox = self.comm, payload.message, payload.inbox
        match name:
            case "send":
                return lambda n: self._calls(comm.send, comm.recv, message, None, n)
            case "Send":
                return lambda n: self._calls(comm.Send, comm.Recv, message, inbox, n)
            case "pkl5.send":
                outside = pkl5.Intracomm(comm)
                return lambda n: self._calls(outside.send, outside.recv, message, None, n)
            case "send into buffer":
                room = bytearray(payload.pickled_bytes)
                # recv(buf) is deprecated in mpi4py, and warns at every call.
                return lambda n: self._calls(comm.send, lambda *of: comm.irecv(*of).wait(), message, room, n)
            case "persistent":
                return lambda n: self._persistent(message, inbox, n)
            case _:
                exchange = self.ceilings[name]
                return lambda n: (exchange(payload.bytes_out, payload.bytes_in, n), None)

    def _calls(
        self, send: Callable[..., None], receive: Callable[..., Any], message: Any, buffer: Any, n: int
    ) -> tuple[float, Any]:
        got, other = None, self.other
        began = perf_counter()
        if self.rank == 0:
            for _ in range(n):
                send(message, other)
                got = receive(buffer, other)
        else:
            for _ in range(n):
                got = receive(buffer, other)
                send(message, other)
        return perf_counter() - began, got

    def _persistent(self, message: Any, inbox: Any, n: int) -> tuple[float, None]:
        going, coming = self.comm.Send_init(message, self.other), self.comm.Recv_init(inbox, self.other)
        first, second = (going, coming) if self.rank == 0 else (coming, going)
        began = perf_counter()
        for _ in range(n):
            first.Start()
            first.Wait()
            second.Start()
            second.Wait()
        seconds = perf_counter() - began
        going.Free()
        coming.Free()
        return seconds, None

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """On rank 0: order a block, play it. What takes this process alone leaves the other rank asleep."""
        if arm.runs in self.unavailable:
            return Block(0.0, fault=self.unavailable[arm.runs])
        kind = self.kinds.index(cell.variant)
        if arm.runs == "memcpy":
            payload = self._present(kind, cell.x)
            payload.empty()
            seconds = self.ceilings["memcpy"](payload.bytes_out, payload.bytes_in, n)
            undamaged = payload.equals(None)
        else:
            words = (self.arms.index(arm.runs), kind, cell.x, n)
            self.command(*words)
            seconds, undamaged = self.play(*words)
        if not undamaged:
            return Block(seconds, fault="lost or damaged messages")
        return Block(seconds, {"round trip": seconds / n})


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
    with stream.listen(kind, LOOPBACK) as listening:
        peers.send(listening.getsockname(), to=0)
        return listening.accept()[0]


@contextmanager
def drive(peers: Peers, settings: dict[str, Any]) -> Iterator[Player]:
    """Play on rank 0."""
    with ExitStack() as resources:
        player = Player(peers, settings, resources)
        yield player
        player.command(STOP, 0, 0, 0)


def serve(peers: Peers, settings: dict[str, Any]) -> None:
    """Play on rank 1 until told to stop."""
    with ExitStack() as resources:
        player = Player(peers, settings, resources)
        while (words := player.command())[0] != STOP:
            player.play(*words)
