"""A socket per curve at either end of an experiment on ZeroMQ: how they find each other, and how they are let go.

The end that commands, on rank 0, connects; the other one, on rank 1 or in a thread, binds and tells where.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import zmq
from zmq.utils import garbage

from crossover.measure.build.loader import UnavailableError
from crossover.measure.ranks.channel import Channel
from crossover.measure.ranks.peers import Peers

Socket = zmq.Socket[bytes]
OtherEnd = Callable[[zmq.Context[Any], Channel], None]
Half = TypeVar("Half")


@contextmanager
def connected(
    peers: Peers, other_end: OtherEnd, kinds: Mapping[str, int]
) -> Iterator[tuple[Channel, dict[str, Socket]]]:
    """Rank 0's channel to the other end, and a socket of a kind for each name; then the other end is told to stop."""
    unbound_collector()
    context: zmq.Context[Any] = zmq.Context()
    channel = peers.other_end(context, other_end)
    sockets = {}
    for name, kind in kinds.items():
        sockets[name] = _unbounded(context, kind)
        sockets[name].connect(channel.receive())
    yield channel, sockets
    channel.send(None)
    channel.receive()
    context.destroy(linger=0)


def serve(peers: Peers, other_end: OtherEnd) -> None:
    """Be the other end on a rank of its own."""
    context: zmq.Context[Any] = zmq.Context()
    other_end(context, peers.channel(to=0))
    context.destroy(linger=0)


@contextmanager
def bound(
    context: zmq.Context[Any], channel: Channel, kinds: Mapping[str, tuple[int, str]]
) -> Iterator[dict[str, Socket]]:
    """The other end's socket of a kind, over a transport, for each name."""
    sockets = {}
    for name, (kind, transport) in kinds.items():
        sockets[name] = _unbounded(context, kind)
        sockets[name].bind(_address(transport, channel.address))
        channel.send(sockets[name].getsockopt_string(zmq.LAST_ENDPOINT))
    yield sockets
    for socket in sockets.values():
        socket.close()
    channel.send("closed")


def in_c(
    channel: Channel, make: Callable[[Socket], Half], sockets: Mapping[str, Socket], names: list[str]
) -> tuple[dict[str, Half], str]:
    """This end of what C does over the sockets of some names; or why one of the ends cannot. Both must ask for it."""
    try:
        halves, reason = {name: make(sockets[name]) for name in names}, ""
    except UnavailableError as error:
        halves, reason = {}, str(error)
    channel.send(reason)
    their_reason = channel.receive()
    return halves, reason or their_reason


def unbound_collector() -> None:
    """Lift the high-water mark of the socket to pyzmq's collecting thread; call it before a buffer is lent.

    A receiver in the same process frees a lent message with the interpreter's lock held, and notifies that thread over
    this socket. When 2,000 notifications are waiting, the receiver waits for a thread that waits for the lock: a
    deadlock (seen with pyzmq 27.3 over inproc).
    """
    garbage.gc.context.sndhwm = 0
    garbage.gc.context.rcvhwm = 0


def _address(transport: str, host: str) -> str:
    """Where to bind, over tcp at the address `host`: nothing is left on disk."""
    unique = f"crossover-{os.getpid()}-{os.urandom(6).hex()}"
    # An abstract socket has no file.
    return {"tcp": f"tcp://{host}:*", "ipc": f"ipc://@{unique}", "inproc": f"inproc://{unique}"}[transport]


def _unbounded(context: zmq.Context[Any], kind: int) -> Socket:
    """A socket on which no send can block for its high-water mark, and which forgets what is unsent when closed."""
    socket: Socket = context.socket(kind)
    socket.set_hwm(0)
    socket.linger = 0
    return socket
