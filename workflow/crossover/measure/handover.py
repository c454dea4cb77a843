"""The ways in which a Python program can hand a message to ZeroMQ and take one from it: the arms of its experiments."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import zmq

from crossover.measure.peers import LOOPBACK
from crossover.plan import arms

Message = bytes | bytearray | memoryview | zmq.Frame
Socket = zmq.Socket[bytes]


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


def address(transport: str) -> str:
    """Where to bind: nothing is left on disk, and nobody beyond this host can reach it."""
    unique = f"crossover-{os.getpid()}-{os.urandom(6).hex()}"
    # An abstract socket has no file.
    return {"tcp": f"tcp://{LOOPBACK}:*", "ipc": f"ipc://@{unique}", "inproc": f"inproc://{unique}"}[transport]


def unbounded(context: zmq.Context[Any], kind: int) -> Socket:
    """A socket on which no send can block for its high-water mark, and which forgets what is unsent when closed."""
    socket: Socket = context.socket(kind)
    socket.set_hwm(0)
    socket.linger = 0
    return socket


def without(settings: dict[str, Any], *names: str) -> tuple[str, ...]:
    """Every alternative of an experiment, ceilings included, but those called `names`."""
    return tuple(arm.runs for arm in arms(settings) if arm.runs not in names and not arm.null)


TRANSPORTS = {"process": ("inproc",), "node": ("tcp", "ipc")}
"""The transports that have a meaning in each placement."""
