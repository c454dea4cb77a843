"""A flow: messages that go on and on, timed somewhere in its middle.

The first milliseconds of a flood are not like the rest. Threads that slept are woken and find a core, the sender runs
ahead, memory is touched for the first time. Bursts of 12 ms had as little as half the rate of bursts that last, for
some arms and not for others, so that their ratios were wrong too. A program whose stream lasts gets what follows.

So the receiver lets `lead_in_seconds` pass, times `n` messages by its own clock, and only then lets the sender stop.
Both ends work all the while, and one clock serves two hosts as well as one.

    throughput = n / time between the end of the lead-in and the arrival of the last of these messages
    send rate  = messages / time in the loops that send; those that began during the lead-in are left out

A flow that lasts needs a bound, or a sender that is faster than its receiver fills the memory. ZeroMQ's own, the
high-water mark, makes send calls wait, and how fast these return is a metric too. So the sockets have none. Instead the
receiver asks for messages, batch by batch, and keeps a few batches asked for. While the sender waits to be asked, no
send call is timed. Batches begin with one message, double while they arrive quickly and shrink where they do not, so
that little is left to arrive at the end, however slow the network is.
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
"""The most batches that are asked for at any time. With one the sender would wait for the receiver after each."""

QUICK = 1 / 4
"""A batch that takes less than this part of the lead-in is quick."""

STOP = 0
"""The receiver's word that it needs no more; any other number is a batch that it asks for."""


@dataclass(frozen=True)
class Bounds:
    """How much of a flow may be on its way at most, and how long it flows before it is timed."""

    messages: int
    bytes: int
    lead_in_seconds: float

    def batches(self, size_bytes: int) -> tuple[int, int]:
        """How many batches of messages of `size_bytes` are asked for at any time, and how large one may become.

        >>> Bounds(2000, 64_000_000, 0.03).batches(100_000)
        (4, 160)
        >>> Bounds(2000, 64_000_000, 0.03).batches(40_000_000)
        (1, 1)
        """
        messages = max(1, min(self.messages, self.bytes // size_bytes))
        return min(BATCHES, messages), messages // min(BATCHES, messages)


@dataclass(frozen=True)
class Flow:
    """A flow, as both ends saw it: the send rate in messages/s; `fault` says why it does not count."""

    timed_seconds: float
    send_rate: float
    fault: str = ""


def send(channel: Channel, socket: Socket, loop: Send, payload: bytes, lead_in_seconds: float) -> Flow:
    """Be the sending end: send every batch that is asked for, then say how many messages that was."""
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
    # Where one batch outlasts the lead-in, none may have begun after it.
    late = [batch for batch in batches if batch[0] >= led_in] or batches[-1:]
    send_rate = sum(count for _, _, count in late) / sum(ended - began for began, ended, _ in late) * 1e9
    return Flow(timed_ns / 1e9, send_rate, "" if sane else "lost or damaged messages")


def receive(channel: Channel, socket: Socket, loop: Take, size_bytes: int, n: int, bounds: Bounds) -> None:
    """Be the receiving end: ask for batches, time `n` messages of them, and check what came."""
    asked: deque[int] = deque()

    def ask(count: int) -> None:
        channel.send(count)
        asked.append(count)

    batch, taken = 1, 0
    batches, largest = bounds.batches(size_bytes)
    for _ in range(batches):
        ask(batch)
    started = now = perf_counter_ns()
    while now - started < bounds.lead_in_seconds * 1e9:
        count, before = asked.popleft(), now
        loop(count)
        taken += count
        now = perf_counter_ns()
        if taken == count:
            started = now
        else:
            quick = now - before < QUICK * bounds.lead_in_seconds * 1e9
            batch = min(2 * batch, largest) if quick else max(1, batch // 2)
        ask(batch)
    left = n
    while left:
        count = min(asked.popleft(), left)
        got = loop(count)
        ask(batch)
        left -= count
    timed_ns = perf_counter_ns() - now
    channel.send(STOP)
    # The identity of a multipart message comes before its content.
    content = got[-1] if isinstance(got, list) else got
    checksum = zlib.crc32(content.buffer if isinstance(content, zmq.Frame) else content)
    rest, ending = _run_out(socket)
    channel.send((timed_ns, taken + n + rest, checksum, ending, socket.poll(0)))


def _run_out(socket: Socket) -> tuple[int, bytes]:
    """How many messages were still on their way, and the one that ends the flow."""
    count = 0
    while not (last := socket.recv_multipart()[-1]).startswith(b"end of a flow "):
        count += 1
    return count, last
