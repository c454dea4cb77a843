"""The ways in which a Python program can hand a message to ZeroMQ and take one from it: the arms of its experiments."""

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
    """One way. `copy` is that of pyzmq's calls; below `threshold_bytes` pyzmq copies all the same."""

    copy: bool
    threshold_bytes: int = 0
    into_buffer: bool = False
    """Whether the receiver fills a buffer that it keeps, instead of getting a new object each time."""

    def sending(self, socket: Socket, payload: Message, flags: int = 0) -> Callable[[], Any]:
        """What sends `payload` once per call."""
        socket.copy_threshold = self.threshold_bytes
        return partial(socket.send, payload, flags, self.copy)

    def receiving(self, socket: Socket, size_bytes: int, flags: int = 0) -> tuple[Callable[[], Any], bytearray | None]:
        """What receives one message of `size_bytes` per call; and the buffer that it fills, if that is its way."""
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
"""By the name of the arm. `default` is `copy=False` with the threshold that pyzmq is shipped with."""


def without(settings: dict[str, Any], *names: str) -> tuple[str, ...]:
    """Every alternative of an experiment, ceilings included, but those called `names`."""
    return tuple(arm.runs for arm in arms(settings) if arm.runs not in names and not arm.null)
