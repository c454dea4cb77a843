"""The ways of an object: how it becomes a message in each arm, and the calls that send and receive it."""

import json
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.context import SpawnContext
from multiprocessing.reduction import ForkingPickler
from multiprocessing.shared_memory import SharedMemory
from typing import Any, NamedTuple, Self

import msgpack
import numpy as np
import zmq
from numpy.typing import NDArray

from crossover.design.config import ObjectFacts
from crossover.measure.messages.loops import Way
from crossover.measure.messages.pickling import from_out_of_band, out_of_band
from crossover.measure.messages.shared_block import Direction
from crossover.measure.ranks.channel import Admission, Channel, connect
from crossover.measure.ranks.children import own_prefix
from crossover.measure.ranks.peers import Peers

ROOM_BYTES = 1 << 20
"""Of a block of shared memory, besides twice the largest object."""


@dataclass(frozen=True)
class Form:
    """A form of an object: `pack` makes the message, one piece of memory or several; `unpack` makes a new object."""

    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]


Ways = dict[str, Callable[[Any], Way]]
"""By arm: makes the way for an object, which both ends have."""


# ---- forms


def describe(value: Any) -> ObjectFacts:
    """The facts of an object. Raises what pickling it raises."""
    pickled, *buffers = map(len, out_of_band(value))
    whole = pickled + sum(buffers)
    return ObjectFacts(whole, len(buffers), sum(buffers) / whole)


def _memory(array: Any) -> NDArray[np.uint8]:
    """The memory of a contiguous array as bytes, because MPI has no types for structures, times and texts."""
    if type(array) is not np.ndarray or not array.flags.c_contiguous or array.dtype.hasobject:
        raise TypeError(f"{type(array).__name__} is no contiguous NumPy array, which is all in its memory")
    found: NDArray[np.uint8] = array.reshape(-1).view(np.uint8)
    return found


def _itself(value: Any) -> Any:
    return value


def _arrow(value: Any) -> Form:
    """That of a table, by the library that it is of."""
    import pyarrow as pa

    library = type(value).__module__.partition(".")[0]
    to_arrow: Callable[[Any], Any]
    back: Callable[[Any], Any]
    if isinstance(value, pa.Table):
        to_arrow, back = _itself, _itself
    elif library == "pandas" and type(value).__name__ == "DataFrame":
        to_arrow, back = pa.Table.from_pandas, pa.Table.to_pandas
    elif library == "polars" and type(value).__name__ == "DataFrame":
        import polars

        to_arrow, back = type(value).to_arrow, polars.from_arrow
    else:
        raise TypeError(f"{type(value).__name__} is no table of pandas, polars or pyarrow")

    def pack(value: Any) -> Any:
        table, sink = to_arrow(value), pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        return sink.getvalue()

    return Form(pack, lambda frame: back(pa.ipc.open_stream(frame).read_all()))


PICKLED = Form(partial(pickle.dumps, protocol=pickle.HIGHEST_PROTOCOL), pickle.loads)
FORKED = Form(ForkingPickler.dumps, ForkingPickler.loads)
OUTSIDE = Form(out_of_band, from_out_of_band)
FORMS: dict[str, Callable[[Any], Form]] = {
    **dict.fromkeys(("Pipe send", "Queue"), lambda value: FORKED),
    **dict.fromkeys(("ZeroMQ pickle", "mpi4py send"), lambda value: PICKLED),
    **dict.fromkeys(("ZeroMQ out of band", "ZeroMQ out of band no-copy"), lambda value: OUTSIDE),
    **dict.fromkeys(("mpi4py pkl5 send", "shared memory"), lambda value: OUTSIDE),
    "mpi4py Send": lambda value: Form(_memory, lambda memory: memory.view(value.dtype).reshape(value.shape)),
    "Arrow IPC": _arrow,
    "msgpack": lambda value: Form(msgpack.packb, msgpack.unpackb),
    "JSON": lambda value: Form(lambda value: json.dumps(value).encode(), json.loads),
}
"""By arm, the form of an object: what its calls do with it, by themselves or given here."""


# ---- between a process and its child


class Ends(NamedTuple):
    """What both processes know: the parent's end first, or the way there."""

    pipes: tuple[Any, Any]
    queues: tuple[Any, Any]
    blocks: tuple[SharedMemory, SharedMemory]
    turns: tuple[tuple[Any, Any], tuple[Any, Any]]

    @classmethod
    def made(cls, spawn: SpawnContext, longest_bytes: int) -> Self:
        """Made before the child starts, for objects of about as many bytes when pickled."""
        size = 2 * longest_bytes + ROOM_BYTES
        one, other = (SharedMemory(f"{own_prefix()}{os.urandom(6).hex()}", create=True, size=size) for _ in range(2))
        turns = (spawn.Semaphore(0), spawn.Semaphore(1)), (spawn.Semaphore(0), spawn.Semaphore(1))
        return cls(spawn.Pipe(), (spawn.Queue(), spawn.Queue()), (one, other), turns)


def with_child(ends: Ends, mine: int) -> Ways:
    """The ways at one end: 0 is the parent, 1 the child."""
    pipe, put, take = ends.pipes[mine], ends.queues[mine], ends.queues[1 - mine]
    out, into = (Direction(ends.blocks[which], ends.turns[which]) for which in (mine, 1 - mine))
    found = {
        "Pipe send": Way(pipe.send, pipe.recv, pipe.poll),
        "Queue": Way(put.put, take.get, lambda: not take.empty()),
        "shared memory": Way(
            lambda value: out.send_parts(out_of_band(value)),
            lambda: from_out_of_band(into.receive_parts()),
            into.is_readable,
        ),
    }
    return {arm: partial(_as_it_is, way) for arm, way in found.items()}


def _as_it_is(way: Way, value: Any) -> Way:
    return way


# ---- between ranks


@contextmanager
def between_ranks(peers: Peers, channel: Channel) -> Iterator[Ways]:
    """The ways between ranks 0 and 1, at one of them: one socket for all on ZeroMQ, and this MPI."""
    context: zmq.Context[Any] = zmq.Context()
    socket: zmq.Socket[bytes] = context.socket(zmq.PAIR)
    # Otherwise pyzmq copies short frames all the same.
    socket.copy_threshold = 0
    if peers.rank:
        admission = Admission(context)
        admission.guard(socket)
        # An abstract name has no file.
        name = f"ipc://@crossover-{os.getpid()}-{os.urandom(6).hex()}"
        socket.bind(f"tcp://{peers.address}:*" if peers.placement == "nodes" else name)
        channel.send((socket.getsockopt_string(zmq.LAST_ENDPOINT), admission.password))
        channel.receive()
        admission.close()
    else:
        connect(socket, *channel.receive())
        channel.send("connected")
    yield _by_zeromq(socket) | _by_mpi(peers.comm, 1 - peers.rank)
    context.destroy(linger=0)


def _by_zeromq(socket: zmq.Socket[bytes]) -> Ways:
    def is_readable() -> bool:
        return bool(socket.poll(0))

    word = Way(socket.send_pyobj, socket.recv_pyobj, is_readable)

    def frames(copy: bool, value: Any) -> Way:
        send, receive = partial(socket.send_multipart, copy=copy), partial(socket.recv_multipart, copy=copy)
        return Way(lambda value: send(out_of_band(value)), lambda: from_out_of_band(receive()), is_readable, word)

    def frame(arm: str, value: Any) -> Way:
        form = FORMS[arm](value)
        pack, unpack = form.pack, form.unpack
        return Way(lambda value: socket.send(pack(value)), lambda: unpack(socket.recv()), is_readable, word)

    return {
        "ZeroMQ pickle": partial(_as_it_is, word),
        "ZeroMQ out of band": partial(frames, True),
        "ZeroMQ out of band no-copy": partial(frames, False),
        **{arm: partial(frame, arm) for arm in ("Arrow IPC", "msgpack", "JSON")},
    }


def _by_mpi(comm: Any, other: int) -> Ways:
    # The import starts MPI, and children import this module too.
    from mpi4py.util import pkl5

    def is_readable() -> bool:
        return bool(comm.iprobe(other))

    def calls(through: Any) -> Way:
        return Way(partial(through.send, dest=other), partial(through.recv, source=other), is_readable)

    word = calls(comm)

    def memory(value: Any) -> Way:
        def receive() -> Any:
            new = np.empty_like(value)
            comm.Recv(_memory(new), other)
            return new

        return Way(lambda value: comm.Send(_memory(value), other), receive, is_readable, word)

    return {
        "mpi4py send": partial(_as_it_is, word),
        "mpi4py pkl5 send": partial(_as_it_is, calls(pkl5.Intracomm(comm))),
        "mpi4py Send": memory,
    }
