"""Floods of messages: their curves, and their sending and receiving loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import zmq

from crossover.measure.zeromq.handover import HANDOVERS, Message
from crossover.measure.zeromq.sockets import Socket
from crossover.planning.curves import in_placement

Send = Callable[[int], None]
"""Sends this number of messages, and does nothing else."""

Take = Callable[[int], Message]
"""Receives this number of messages, and does nothing else; returns the last."""


class Curve(NamedTuple):
    """The keys of a curve's sockets. If it is `polled`, a poller is called before each send and receive."""

    pattern: str
    transport: str
    polled: bool

    @classmethod
    def of(cls, keys: Mapping[str, Any]) -> Curve:
        """The part of a cell's keys that its sockets depend on."""
        return cls(keys["pattern"], keys["transport"], keys["polled"])

    @property
    def multipart(self) -> bool:
        """Whether a message has several parts: the sender's identity, then the content."""
        return self.pattern == "DEALER/ROUTER"

    @property
    def kinds(self) -> tuple[int, int]:
        """The types of the sending and of the receiving socket."""
        return (zmq.DEALER, zmq.ROUTER) if self.multipart else (zmq.PUSH, zmq.PULL)

    @property
    def flags(self) -> int:
        """The flags of a send or receive call, which does not wait after a poller."""
        return zmq.NOBLOCK if self.polled else 0


def curves(settings: dict[str, Any]) -> list[Curve]:
    """The configured curves that work in this placement."""
    return [Curve.of(keys) for keys in in_placement(settings["curves"], settings["placement"]).values()]


def sending(socket: Socket, curve: Curve, arm: str, payload: bytes) -> Send:
    """The sending loop of an arm."""
    send = HANDOVERS[arm].sending(socket, payload, curve.flags)
    poll = _poll(socket, zmq.POLLOUT)

    def polled(count: int) -> None:
        for _ in range(count):
            poll()
            send()

    def plain(count: int) -> None:
        for _ in range(count):
            send()

    return polled if curve.polled else plain


def receiving(socket: Socket, curve: Curve, arm: str, size_bytes: int) -> Take:
    """The receiving loop of an arm, for messages of `size_bytes`. Multipart messages come as lists, identity first."""
    take: Callable[[], Any]
    take, buffer = HANDOVERS[arm].receiving(socket, size_bytes, curve.flags)
    if curve.multipart:
        take = partial(socket.recv_multipart, curve.flags, HANDOVERS[arm].copy)
    poll = _poll(socket, zmq.POLLIN)

    def polled(count: int) -> Any:
        for _ in range(count):
            poll()
            got = take()
        return got if buffer is None else buffer

    def plain(count: int) -> Any:
        for _ in range(count):
            got = take()
        return got if buffer is None else buffer

    return polled if curve.polled else plain


def _poll(socket: Socket, event: int) -> Callable[[], Any]:
    """A function that waits for `event` on the socket."""
    poller = zmq.Poller()
    poller.register(socket, event)
    return poller.poll
