"""The curve of a flood, and the sending and receiving loops of every flood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import zmq

from crossover.measure.zeromq.handover import HANDOVERS, Message
from crossover.measure.zeromq.sockets import Socket
from crossover.planning.curves import NAMED, in_placement

Send = Callable[[int], None]
"""Sends a number of messages, and does nothing else."""

Take = Callable[[int], Message]
"""Receives a number of messages, and does nothing else; returns the last."""


@dataclass(frozen=True)
class Curve:
    """The sockets, the transport, and whether a poller is asked before each call."""

    pattern: str
    transport: str
    polled: bool

    @classmethod
    def named(cls, name: str) -> Curve:
        """The curve that the configuration calls so, such as `DEALER/ROUTER over ipc, polled`."""
        return cls(**NAMED[name])

    @property
    def multipart(self) -> bool:
        """Whether messages arrive with an identity before them."""
        return self.pattern == "DEALER/ROUTER"

    @property
    def kinds(self) -> tuple[int, int]:
        """The sender's and the receiver's kind of socket."""
        return (zmq.DEALER, zmq.ROUTER) if self.multipart else (zmq.PUSH, zmq.PULL)

    @property
    def flags(self) -> int:
        """The flags of a call after the poller has said that it will not have to wait."""
        return zmq.NOBLOCK if self.polled else 0


def curves(settings: dict[str, Any]) -> dict[str, Curve]:
    """The curves that have a meaning in this placement, by their names."""
    return {name: Curve.named(name) for name in in_placement(settings["curves"], settings["placement"])}


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
    """What waits until `event` has come for the socket."""
    poller = zmq.Poller()
    poller.register(socket, event)
    return poller.poll
