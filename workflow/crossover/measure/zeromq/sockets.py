"""The sockets of an experiment on ZeroMQ, one per curve at either end: connecting and closing them.

The commanding end, on rank 0, connects. The other end, on rank 1 or in a thread, binds and reports its addresses.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import zmq
from zmq.utils import garbage

from crossover.measure.build.loader import UnavailableError
from crossover.measure.ranks.channel import Channel
from crossover.measure.ranks.peers import Peers

Socket = zmq.Socket[bytes]
OtherEnd = Callable[[zmq.Context[Any], Channel], None]
Curve = TypeVar("Curve")
Half = TypeVar("Half")


@contextmanager
def connected(
    peers: Peers, other_end: OtherEnd, kinds: Mapping[Curve, int]
) -> Iterator[tuple[Channel, dict[Curve, Socket]]]:
    """Rank 0's channel to the other end, and a connected socket of each curve's type; finally stops the other end."""
    if peers.placement == "process":
        unbound_collector()
    context: zmq.Context[Any] = zmq.Context()
    channel = peers.other_end(context, other_end)
    sockets = {}
    for curve, kind in kinds.items():
        sockets[curve] = _unbounded(context, kind)
        sockets[curve].connect(channel.receive())
    yield channel, sockets
    channel.send(None)
    channel.receive()
    context.destroy(linger=0)


def serve(peers: Peers, other_end: OtherEnd) -> None:
    """Run the other end on its own rank."""
    context: zmq.Context[Any] = zmq.Context()
    other_end(context, peers.channel(to=0))
    context.destroy(linger=0)


@contextmanager
def bound(
    context: zmq.Context[Any], channel: Channel, kinds: Mapping[Curve, tuple[int, str]]
) -> Iterator[dict[Curve, Socket]]:
    """The other end's bound socket per curve, each of a type and over a transport; closes them."""
    sockets = {}
    for curve, (kind, transport) in kinds.items():
        sockets[curve] = _unbounded(context, kind)
        sockets[curve].bind(_address(transport, channel.address))
        channel.send(sockets[curve].getsockopt_string(zmq.LAST_ENDPOINT))
    yield sockets
    for socket in sockets.values():
        socket.close()
    channel.send("closed")


def in_c(
    channel: Channel, make: Callable[[Socket], Half], sockets: Mapping[Curve, Socket], curves: Iterable[Curve]
) -> tuple[dict[Curve, Half], str]:
    """This end's ceiling in C for each of `curves`; and a reason if either end has none. Both ends must call this."""
    try:
        halves, reason = {curve: make(sockets[curve]) for curve in curves}, ""
    except UnavailableError as error:
        halves, reason = {}, str(error)
    channel.send(reason)
    their_reason = channel.receive()
    return halves, reason or their_reason


def unbound_collector() -> None:
    """Lift the high-water mark of the socket to pyzmq's collecting thread; call it before a buffer is lent.

    A receiver in the same process frees a lent message with the interpreter's lock held, and notifies that thread over
    this socket. When 2,000 notifications are waiting, the receiver waits for a thread that waits for the lock: a
    deadlock (seen with pyzmq 27.3 over inproc). Between two processes the mark stays, as it does in users' programs:
    without it, small messages are sent more slowly.
    """
    garbage.gc.context.sndhwm = 0
    garbage.gc.context.rcvhwm = 0


def _address(transport: str, host: str) -> str:
    """A free address to bind to; for tcp, on `host`. It leaves nothing on disk."""
    unique = f"crossover-{os.getpid()}-{os.urandom(6).hex()}"
    # An abstract socket has no file.
    return {"tcp": f"tcp://{host}:*", "ipc": f"ipc://@{unique}", "inproc": f"inproc://{unique}"}[transport]


def _unbounded(context: zmq.Context[Any], kind: int) -> Socket:
    """A socket without high-water marks, so that no send call blocks; drops unsent messages when closed."""
    socket: Socket = context.socket(kind)
    socket.set_hwm(0)
    socket.linger = 0
    return socket
