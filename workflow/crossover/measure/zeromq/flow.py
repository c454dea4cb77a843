"""A flow: a continuous stream of messages, timed in its middle.

The first milliseconds of a flood differ from the rest. Sleeping threads wake up and get a core, the sender runs ahead,
memory is touched for the first time. Bursts of 12 ms had as little as half the rate of long ones, for some arms and not
for others, so their ratios were wrong too. A program with a continuous stream gets the later rate.

So the receiver lets `lead_in_seconds` pass, times `n` messages by its own clock, and only then lets the sender stop.
Both ends work all the time, and one clock is enough, even for two hosts.

    throughput = n / time between the end of the lead-in and the arrival of the last of these messages
    send rate  = messages / time in the send loops, without loops that began during the lead-in

A flow needs a bound, because a sender that is faster than its receiver would fill the memory. ZeroMQ's own bound, the
high-water mark, makes send calls wait, but their speed is a metric too. So the sockets have no high-water mark. Instead
the receiver requests messages, batch by batch, and keeps a few requests open. While the sender waits for a request, no
send call is timed. Batches start with one message, double while they arrive quickly, and shrink otherwise, so that few
messages are left to arrive at the end, however slow the network is.
"""

from __future__ import annotations

import zlib
from collections import deque
from dataclasses import dataclass
from time import perf_counter_ns

import zmq

from crossover.measure.ranks.channel import Channel
from crossover.measure.zeromq.flood import Send, Take
from crossover.measure.zeromq.sockets import Socket

BATCHES = 4
"""The largest number of open requests. With one, the sender would wait for the receiver after each batch."""

QUICK = 1 / 4
"""A batch that takes less than this fraction of the lead-in is quick."""

STOP = 0
"""The receiver's request to stop; any other number requests a batch."""


@dataclass(frozen=True)
class Bounds:
    """The bounds on messages in flight, and the time before a flow is timed."""

    messages: int
    bytes: int
    lead_in_seconds: float

    def batches(self, size_bytes: int) -> tuple[int, int]:
        """The number of open requests for messages of `size_bytes`, and the largest batch.

        >>> Bounds(2000, 64_000_000, 0.03).batches(100_000)
        (4, 160)
        >>> Bounds(2000, 64_000_000, 0.03).batches(40_000_000)
        (1, 1)
        """
        messages = max(1, min(self.messages, self.bytes // size_bytes))
        return min(BATCHES, messages), messages // min(BATCHES, messages)


@dataclass(frozen=True)
class Flow:
    """The result of a flow; `send_rate` is in messages/s. With a `fault`, it does not count."""

    timed_seconds: float
    send_rate: float
    fault: str = ""


def send(channel: Channel, socket: Socket, loop: Send, payload: bytes, lead_in_seconds: float) -> Flow:
    """Send every requested batch, then a message with the number of messages."""
    batches: list[tuple[int, int, int]] = []
    while (count := channel.receive()) != STOP:
        began = perf_counter_ns()
        loop(count)
        batches.append((began, perf_counter_ns(), count))
    sent = sum(count for _, _, count in batches)
    sentinel = b"end of a flow of %d messages" % sent
    socket.send(sentinel)
    timed_ns, taken, checksum, ending, leftover = channel.receive()
    sane = (taken, checksum, ending, leftover) == (sent, zlib.crc32(payload), sentinel, 0)
    led_in = batches[0][0] + lead_in_seconds * 1e9
    # If one batch outlasts the lead-in, possibly none has begun after it.
    late = [batch for batch in batches if batch[0] >= led_in] or batches[-1:]
    send_rate = sum(count for _, _, count in late) / sum(ended - began for began, ended, _ in late) * 1e9
    return Flow(timed_ns / 1e9, send_rate, "" if sane else "lost or damaged messages")


def receive(channel: Channel, socket: Socket, loop: Take, size_bytes: int, n: int, bounds: Bounds) -> None:
    """Request batches, time `n` messages of them, and check the received messages."""
    requested: deque[int] = deque()

    def request(count: int) -> None:
        channel.send(count)
        requested.append(count)

    batch, taken = 1, 0
    batches, largest = bounds.batches(size_bytes)
    for _ in range(batches):
        request(batch)
    started = now = perf_counter_ns()
    while now - started < bounds.lead_in_seconds * 1e9:
        count, before = requested.popleft(), now
        loop(count)
        taken += count
        now = perf_counter_ns()
        if taken == count:
            started = now
        else:
            quick = now - before < QUICK * bounds.lead_in_seconds * 1e9
            batch = min(2 * batch, largest) if quick else max(1, batch // 2)
        request(batch)
    left = n
    while left:
        count = min(requested.popleft(), left)
        got = loop(count)
        request(batch)
        left -= count
    timed_ns = perf_counter_ns() - now
    channel.send(STOP)
    # The identity of a multipart message comes before its content.
    content = got[-1] if isinstance(got, list) else got
    checksum = zlib.crc32(content.buffer if isinstance(content, zmq.Frame) else content)
    rest, ending = _remaining(socket)
    channel.send((timed_ns, taken + n + rest, checksum, ending, socket.poll(0)))


def _remaining(socket: Socket) -> tuple[int, bytes]:
    """The number of messages still in flight, and the message that ends the flow."""
    count = 0
    while not (last := socket.recv_multipart()[-1]).startswith(b"end of a flow "):
        count += 1
    return count, last
