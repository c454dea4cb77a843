"""The ways in which a Python program sends and receives messages over ZeroMQ: the arms of these experiments."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import zmq

from crossover.design.arm import arms_of
from crossover.design.settings import Settings
from crossover.measure.messages.sockets import Curve, Socket

Message = bytes | bytearray | memoryview | zmq.Frame

Send = Callable[[int], None]
"""Sends this number of messages, and does nothing else."""

Take = Callable[[int], Any]
"""Receives this number of messages, and does nothing else; returns the last."""


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


def without(settings: Settings, *names: str) -> tuple[str, ...]:
    """Every alternative of an experiment, including ceilings, except `names`."""
    return tuple(arm.runs for arm in arms_of(settings) if arm.runs not in names and not arm.null)


NEIGHBOURHOOD = 4
"""Up to this factor from its threshold an arm is measured; beyond it does what another arm does."""


def distinct(settings: Settings, names: tuple[str, ...], size_bytes: int) -> tuple[str, ...]:
    """Those of `names` that do at `size_bytes` what no other arm of the experiment does."""

    def is_another(name: str) -> bool:
        way = HANDOVERS.get(name)
        if way is None or not way.threshold_bytes or name == settings.reference:
            return False
        twin = "copy" if size_bytes < way.threshold_bytes else "no-copy"
        far = max(size_bytes, way.threshold_bytes) > NEIGHBOURHOOD * min(size_bytes, way.threshold_bytes)
        return far and twin in settings.arms

    return tuple(name for name in names if not is_another(name))


def checksum(message: Any) -> int:
    """The checksum of a received message; of one with several parts, that of the last."""
    content = message[-1] if isinstance(message, list) else message
    return zlib.crc32(content.buffer if isinstance(content, zmq.Frame) else content)


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
