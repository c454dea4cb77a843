"""The ways to send bytes between a process and its child. `Ends` are made before the child starts, `opened` in both."""

import asyncio
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.context import SpawnContext
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import uvloop
import zmq

from crossover.measure.messages.loops import WORD, Way
from crossover.measure.messages.shared_block import LENGTH_BYTES, Direction
from crossover.measure.ranks.channel import Admission, connect
from crossover.measure.ranks.children import own_prefix

LOOK_SECONDS = 0.001
LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}
"""What makes the event loop of each way with streams."""
ADDRESSES = {"ZeroMQ ipc": "ipc://@{name}", "ZeroMQ tcp": "tcp://127.0.0.1:*"}
"""An abstract name has no file: it disappears with its socket, however the process ends."""


@dataclass(frozen=True)
class Ends:
    """What both processes know of the ways: pairs have the parent's end first, queues and blocks the way there.
    `streams` has a pair for each of LOOPS."""

    name: str
    pipes: tuple[Any, Any]
    one_way: tuple[tuple[Any, Any], tuple[Any, Any]]
    """A pipe there and one back, each with its reading end first."""
    queues: tuple[Any, Any]
    streams: Mapping[str, tuple[socket.socket, socket.socket]]
    blocks: tuple[SharedMemory, SharedMemory]
    turns: tuple[tuple[Any, Any], tuple[Any, Any]]
    """Semaphores of each block: it is full, it is free."""
    addresses: tuple[Any, Any]

    @classmethod
    def made(cls, spawn: SpawnContext, longest_bytes: int) -> "Ends":
        """The ends for messages of at most `longest_bytes`."""
        size = LENGTH_BYTES + max(longest_bytes, len(WORD))
        first, second = (SharedMemory(f"{own_prefix()}{os.urandom(6).hex()}", create=True, size=size) for _ in range(2))
        turns = tuple((spawn.Semaphore(0), spawn.Semaphore(1)) for _ in range(2))
        queues = (spawn.Queue(), spawn.Queue())
        one_way = spawn.Pipe(duplex=False), spawn.Pipe(duplex=False)
        pipes, streams = spawn.Pipe(), {name: socket.socketpair() for name in LOOPS}
        name = f"crossover-{os.getpid()}-{os.urandom(6).hex()}"
        return cls(name, pipes, one_way, queues, streams, (first, second), (turns[0], turns[1]), spawn.Pipe())


class Streams:
    """The same loops as coroutines, over a connected socket, in an event loop; a length stands before each message."""

    def __init__(self, connected: socket.socket, loop: asyncio.AbstractEventLoop):
        self.loop = loop
        self.reader, self.writer = self.loop.run_until_complete(asyncio.open_connection(sock=connected))

    def close(self) -> None:
        """Close the socket and the loop."""
        self.writer.close()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()

    async def _send(self, message: bytes) -> None:
        self.writer.writelines((len(message).to_bytes(LENGTH_BYTES, "little"), message))
        await self.writer.drain()

    async def _receive(self) -> bytes:
        length = int.from_bytes(await self.reader.readexactly(LENGTH_BYTES), "little")
        return await self.reader.readexactly(length)

    async def _ping(self, payload: bytes, n: int) -> bytes:
        for _ in range(n):
            await self._send(payload)
            got = await self._receive()
        return got

    async def _pong(self, payload: bytes, n: int) -> bytes:
        for _ in range(n):
            got = await self._receive()
            await self._send(payload)
        return got

    async def _pour(self, payload: bytes, n: int) -> bytes:
        for _ in range(n):
            await self._send(payload)
        return await self._receive()

    async def _drain(self, payload: bytes, n: int) -> bytes:
        for _ in range(n):
            got = await self._receive()
        await self._send(WORD)
        return got

    def ping(self, payload: bytes, n: int) -> bytes:
        """As `Way.ping`."""
        return self.loop.run_until_complete(self._ping(payload, n))

    def pong(self, payload: bytes, n: int) -> bytes:
        """As `Way.pong`."""
        return self.loop.run_until_complete(self._pong(payload, n))

    def pour(self, payload: bytes, n: int) -> bytes:
        """As `Way.pour`."""
        return self.loop.run_until_complete(self._pour(payload, n))

    def drain(self, payload: bytes, n: int) -> bytes:
        """As `Way.drain`."""
        return self.loop.run_until_complete(self._drain(payload, n))

    def is_readable(self) -> bool:
        """Whether a message is left; its first byte is taken."""

        async def look() -> bool:
            with suppress(TimeoutError):
                return bool(await asyncio.wait_for(self.reader.read(1), LOOK_SECONDS))
            return False

        return self.loop.run_until_complete(look())


@contextmanager
def opened(ends: Ends, is_parent: bool) -> Iterator[dict[str, Way | Streams]]:
    """The ways by their names, at one end; both ends must open them. They are closed afterwards."""
    mine = 0 if is_parent else 1
    with ExitStack() as stack:
        pipe = ends.pipes[mine]
        streams = {name: Streams(pair[mine], LOOPS[name]()) for name, pair in ends.streams.items()}
        for each in streams.values():
            stack.callback(each.close)
        there, back = (Direction(block, turns) for block, turns in zip(ends.blocks, ends.turns, strict=True))
        (out, into), (put, take) = ((there, back), ends.queues) if is_parent else ((back, there), ends.queues[::-1])
        (into_there, out_there), (into_back, out_back) = ends.one_way
        writer, reader = (out_there, into_back) if is_parent else (out_back, into_there)
        for queue in (put, take):
            stack.callback(queue.close)
        found: dict[str, Way | Streams] = {
            "Pipe": Way(pipe.send_bytes, pipe.recv_bytes, pipe.poll),
            "Pipe send": Way(pipe.send, pipe.recv, pipe.poll),
            "Pipe one-way": Way(writer.send_bytes, reader.recv_bytes, reader.poll),
            "Queue": Way(put.put, take.get, lambda: not take.empty()),
            "shared memory": Way(out.send, into.receive, into.is_readable),
            **streams,
        }
        for name, opened_socket in stack.enter_context(_sockets(ends, is_parent)).items():
            # Copied, as `send` and `recv` do by default.
            left = partial(_is_readable, opened_socket)
            found[name] = Way(opened_socket.send, opened_socket.recv, left)
            found[f"{name} no-copy"] = Way(
                partial(opened_socket.send, copy=False), partial(_frame, opened_socket), left
            )
        yield found


def _frame(opened_socket: zmq.Socket[bytes]) -> memoryview:
    """The memory of the next message, without a copy."""
    return opened_socket.recv(copy=False).buffer


def _is_readable(opened_socket: zmq.Socket[bytes]) -> bool:
    return bool(opened_socket.poll(0))


@contextmanager
def _sockets(ends: Ends, is_parent: bool) -> Iterator[Mapping[str, zmq.Socket[bytes]]]:
    """A connected PAIR socket for each transport; the child binds, and admits the parent alone."""
    context: zmq.Context[Any] = zmq.Context()
    sockets = {name: context.socket(zmq.PAIR) for name in ADDRESSES}
    for made in sockets.values():
        # Otherwise pyzmq copies short messages all the same.
        made.copy_threshold = 0
    addresses = ends.addresses[0 if is_parent else 1]
    if is_parent:
        for made in sockets.values():
            connect(made, *addresses.recv())
        addresses.send("connected")
    else:
        admission = Admission(context)
        for name, made in sockets.items():
            admission.guard(made)
            made.bind(ADDRESSES[name].format(name=ends.name))
            addresses.send((made.getsockopt_string(zmq.LAST_ENDPOINT), admission.password))
        addresses.recv()
        admission.close()
    yield sockets
    context.destroy(linger=0)
