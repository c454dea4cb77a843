"""The sockets of an experiment on ZeroMQ, one per curve at either end: connecting and closing them.

The commanding end, on rank 0, connects. The other end, on rank 1 or in a thread, binds and reports its addresses.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, NamedTuple, Self, TypeVar

import zmq
from zmq.utils import garbage

from crossover.design.protocol import Keys
from crossover.design.zeromq import Connected
from crossover.measure.native.loader import UnavailableError
from crossover.measure.ranks.channel import Admission, Channel, connect
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Blocks

Socket = zmq.Socket[bytes]
Half = TypeVar("Half")

KINDS = {"PUSH/PULL": (zmq.PUSH, zmq.PULL), "DEALER/ROUTER": (zmq.DEALER, zmq.ROUTER), "REQ/REP": (zmq.REQ, zmq.REP)}
"""The types of the commanding end's socket and of the other, by pattern."""


class Curve(NamedTuple):
    """The part of a curve's keys that its sockets depend on."""

    pattern: str
    transport: str
    polled: bool = False
    """Whether a poller is called before each send and receive."""
    legacy: bool = False
    """Whether each end sends the received message object back."""

    @classmethod
    def of(cls, keys: Keys) -> Self:
        """The curve with these keys."""
        return cls(**{name: keys[name] for name in cls._fields if name in keys})

    @property
    def multipart(self) -> bool:
        """Whether a message has several parts: the sender's identity, then the content."""
        return self.pattern == "DEALER/ROUTER"

    @property
    def has_ceiling(self) -> bool:
        """Whether there is such an exchange in C: of messages of one part, without a poller, none sent back."""
        return not (self.multipart or self.polled or self.legacy)

    @property
    def flags(self) -> int:
        """The flags of a send or receive call, which does not wait after a poller."""
        return zmq.NOBLOCK if self.polled else 0


Sockets = Mapping[Curve, Socket]


S = TypeVar("S", bound=Connected)


def curves(settings: Connected) -> dict[Curve, Keys]:
    """The configured curves that work in this placement, each with its keys."""
    return {Curve.of(keys): keys for keys in settings.connections(settings.placement).values()}


def bound(settings: Any, keys: Keys) -> list[Keys]:
    """The curves with these keys: of round trips within a host, one for each of the settings' `bindings`."""
    if settings.placement != "node" or keys["pattern"] != "REQ/REP":
        return [keys]
    return [{**keys, "binding": binding} for binding in settings.bindings]


def ends(
    commanding: Callable[[Channel, Sockets, S], Blocks], other: Callable[[Channel, Sockets, S], None]
) -> tuple[Callable[[Peers, S], AbstractContextManager[Blocks]], Callable[[Peers, S], None]]:
    """The `drive` and `serve` of an experiment between two ends, with a socket per curve at each.

    `commanding` gives the blocks on rank 0; `other` follows the commands on the channel until it receives None.
    """

    def run(settings: S, context: zmq.Context[Any], channel: Channel) -> None:
        sockets = {}
        admission = Admission(context)
        for curve in curves(settings):
            sockets[curve] = _unbounded(context, KINDS[curve.pattern][1])
            admission.guard(sockets[curve])
            sockets[curve].bind(_address(curve.transport, channel.address))
            channel.send((sockets[curve].getsockopt_string(zmq.LAST_ENDPOINT), admission.password))
        channel.receive()
        admission.close()
        other(channel, sockets, settings)
        for socket in sockets.values():
            socket.close()
        channel.send("closed")

    @contextmanager
    def drive(peers: Peers, settings: S) -> Iterator[Blocks]:
        if peers.placement == "process":
            unbound_collector()
        context: zmq.Context[Any] = zmq.Context()
        channel = peers.other_end(context, partial(run, settings))
        sockets = {}
        for curve in curves(settings):
            sockets[curve] = _unbounded(context, KINDS[curve.pattern][0])
            connect(sockets[curve], *channel.receive())
        channel.send("connected")
        yield commanding(channel, sockets, settings)
        channel.send(None)
        channel.receive()
        context.destroy(linger=0)

    def serve(peers: Peers, settings: S) -> None:
        context: zmq.Context[Any] = zmq.Context()
        run(settings, context, peers.channel(to=0))
        context.destroy(linger=0)

    return drive, serve


def in_c(
    channel: Channel, make: Callable[[Socket], Half], sockets: Sockets, settings: Connected
) -> tuple[dict[Curve, Half], str]:
    """This end's ceilings in C by curve, if configured; and a reason if an end has none. Both ends must call this."""
    wanted = [curve for curve in sockets if settings.ceilings and curve.has_ceiling]
    try:
        halves, reason = {curve: make(sockets[curve]) for curve in wanted}, ""
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
