"""What a flood's curve is, by its name, and the two timed loops: one sends, one receives, neither does more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter_ns
from typing import Any

import zmq

from crossover.measure.handover import Handover, Message
from crossover.measure.sockets import Socket


@dataclass(frozen=True)
class Curve:
    """What a curve's name says: the sockets, the transport, and whether a poller is asked before each call."""

    pattern: str
    transport: str
    polled: bool

    @classmethod
    def named(cls, name: str) -> Curve:
        """Take a name apart, such as `DEALER/ROUTER over ipc, polled`."""
        pattern, rest = name.split(" over ")
        transport, _, way = rest.partition(", ")
        return cls(pattern, transport, way == "polled")

    @property
    def multipart(self) -> bool:
        """Whether messages arrive with an identity before them, and the last one is answered."""
        return self.pattern == "DEALER/ROUTER"

    @property
    def kinds(self) -> tuple[int, int]:
        """The sender's and the receiver's kind of socket."""
        return (zmq.DEALER, zmq.ROUTER) if self.multipart else (zmq.PUSH, zmq.PULL)

    @property
    def flags(self) -> int:
        """What a call is told after the poller has said that it will not have to wait."""
        return zmq.NOBLOCK if self.polled else 0


def send_all(socket: Socket, curve: Curve, handover: Handover, count: int, payload: Message) -> tuple[int, int]:
    """When sending `count` messages began and ended, in ns."""
    send = handover.sending(socket, payload, curve.flags)
    began = perf_counter_ns()
    if curve.polled:
        poll = _poll(socket, zmq.POLLOUT)
        for _ in range(count):
            poll()
            send()
    else:
        for _ in range(count):
            send()
    return began, perf_counter_ns()


def receive_all(
    socket: Socket, curve: Curve, handover: Handover, count: int, size_bytes: int
) -> tuple[int, int, Message]:
    """When the first and the last of `count` messages were there, in ns; and the last one."""
    take, buffer = handover.receiving(socket, size_bytes, curve.flags)
    if curve.multipart:
        take = partial(socket.recv_multipart, curve.flags, handover.copy)
    if curve.polled:
        poll = _poll(socket, zmq.POLLIN)
        poll()
        got = take()
        first = perf_counter_ns()
        for _ in range(count - 1):
            poll()
            got = take()
    else:
        got = take()
        first = perf_counter_ns()
        for _ in range(count - 1):
            got = take()
    last = perf_counter_ns()
    if curve.multipart:
        identity, got = got
        socket.send_multipart([identity, b"DONE"])
    return first, last, got if buffer is None else buffer


def _poll(socket: Socket, event: int) -> Callable[[], Any]:
    """What waits until `event` has come for the socket."""
    poller = zmq.Poller()
    poller.register(socket, event)
    return poller.poll
