"""The ways in which a Python program sends and receives messages over ZeroMQ: the arms of these experiments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import zmq

from crossover.measure.zeromq.sockets import Socket
from crossover.planning.plan import arms

Message = bytes | bytearray | memoryview | zmq.Frame


@dataclass(frozen=True)
class Handover:
    """One way. `copy` is the argument of pyzmq's calls. Messages below `threshold_bytes` are copied in any case."""

    copy: bool
    threshold_bytes: int = 0
    into_buffer: bool = False
    """Whether the receiver fills a buffer that it reuses, instead of getting a new object each time."""

    def sending(self, socket: Socket, payload: Message, flags: int = 0) -> Callable[[], Any]:
        """A function that sends `payload`."""
        socket.copy_threshold = self.threshold_bytes
        return partial(socket.send, payload, flags, self.copy)

    def receiving(self, socket: Socket, size_bytes: int, flags: int = 0) -> tuple[Callable[[], Any], bytearray | None]:
        """A function that receives one message of `size_bytes`; and the buffer that it fills, if any."""
        if self.into_buffer:
            buffer = bytearray(size_bytes)
            return partial(socket.recv_into, buffer, flags=flags), buffer
        return partial(socket.recv, flags, self.copy), None


HANDOVERS = {
    "copy": Handover(copy=True),
    "no-copy": Handover(copy=False),
    "default": Handover(copy=False, threshold_bytes=zmq.COPY_THRESHOLD),
    "recv-into": Handover(copy=True, into_buffer=True),
}
"""The way of each arm. `default` is `copy=False` with pyzmq's own threshold."""


def without(settings: dict[str, Any], *names: str) -> tuple[str, ...]:
    """Every alternative of an experiment, including ceilings, except `names`."""
    return tuple(arm.runs for arm in arms(settings) if arm.runs not in names and not arm.null)
