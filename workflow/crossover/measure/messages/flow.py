"""A flow: a continuous stream of messages, timed in its middle.

The first milliseconds of a flood differ from the rest, and a program with a continuous stream gets the later rate
(docs/decisions/streams.md). So the receiver lets `lead_in_seconds` pass, times `n` messages by its own clock, and only
then lets the sender stop. Both ends work all the time, and one clock is enough, even for two hosts.

    throughput = n / time between the end of the lead-in and the arrival of the last of these messages
    send rate  = messages / time in the send loops, without loops that began during the lead-in

A flow needs a bound, because a sender that is faster than its receiver would fill the memory. ZeroMQ's own bound, the
high-water mark, makes send calls wait, but their speed is a metric too. So the sockets have no high-water mark. Instead
the receiver requests messages, batch by batch, and keeps a few requests open. While the sender waits for a request, no
send call is timed. Batches start with one message, double while they arrive quickly, and shrink otherwise, so that few
messages are left to arrive at the end, however slow the network is.
"""

from collections import deque
from dataclasses import dataclass
from time import perf_counter_ns

from crossover.measure.messages.handover import Send, Take, checksum
from crossover.measure.messages.sockets import Socket
from crossover.measure.ranks.channel import Channel
from crossover.measure.sampling.contract import DAMAGED, Block

BATCHES = 4
"""The largest number of open requests. With one, the sender would wait for the receiver after each batch."""

QUICK = 1 / 4
"""A batch that takes less than this fraction of the lead-in is quick."""

STOP = 0
"""The receiver's request to stop; any other number requests a batch."""


@dataclass(frozen=True)
class Window:
    """What may be in flight, and how long a stream flows before it is timed."""

    messages: int
    bytes: int
    lead_in_seconds: float


def batches(window: Window, size_bytes: int) -> tuple[int, int]:
    """The number of open requests for messages of `size_bytes`, and the largest batch.

    >>> batches(Window(2000, 64_000_000, 0.02), 100_000)
    (4, 160)
    >>> batches(Window(2000, 64_000_000, 0.02), 40_000_000)
    (1, 1)
    """
    messages = max(1, min(window.messages, window.bytes // size_bytes))
    return min(BATCHES, messages), messages // min(BATCHES, messages)


def send(channel: Channel, socket: Socket, loop: Send, payload: bytes, n: int, window: Window) -> Block:
    """Send every requested batch, then a message with the number of messages; `n` of them are timed."""
    loops: list[tuple[int, int, int]] = []
    while (count := channel.receive()) != STOP:
        began = perf_counter_ns()
        loop(count)
        loops.append((began, perf_counter_ns(), count))
    sent = sum(count for _, _, count in loops)
    sentinel = b"end of a flow of %d messages" % sent
    socket.send(sentinel)
    timed_ns, *received = channel.receive()
    if received != [sent, checksum(payload), sentinel, 0]:
        return Block(timed_ns / 1e9, fault=DAMAGED)
    led_in = loops[0][0] + window.lead_in_seconds * 1e9
    # If one batch outlasts the lead-in, possibly none has begun after it.
    late = [each for each in loops if each[0] >= led_in] or loops[-1:]
    send_rate = sum(count for _, _, count in late) / sum(ended - began for began, ended, _ in late) * 1e9
    return Block(timed_ns / 1e9, {"throughput": n / (timed_ns / 1e9), "send rate": send_rate})


def receive(channel: Channel, socket: Socket, loop: Take, size_bytes: int, n: int, window: Window) -> None:
    """Request batches, time `n` messages of them, and check the received messages."""
    requested: deque[int] = deque()

    def request(count: int) -> None:
        channel.send(count)
        requested.append(count)

    batch, taken, lead_in_ns = 1, 0, window.lead_in_seconds * 1e9
    most, largest = batches(window, size_bytes)
    for _ in range(most):
        request(batch)
    started = now = perf_counter_ns()
    while now - started < lead_in_ns:
        count, before = requested.popleft(), now
        loop(count)
        taken += count
        now = perf_counter_ns()
        if taken == count:
            started = now
        else:
            batch = min(2 * batch, largest) if now - before < QUICK * lead_in_ns else max(1, batch // 2)
        request(batch)
    left = n
    while left:
        count = min(requested.popleft(), left)
        got = loop(count)
        left -= count
        # Of the last batch, some messages may still be in flight: one more would exceed the bound.
        if left:
            request(batch)
    timed_ns = perf_counter_ns() - now
    channel.send(STOP)
    # Messages that were still in flight arrive before the one that ends the flow.
    arrived = taken + n
    while not (ending := socket.recv_multipart()[-1]).startswith(b"end of a flow "):
        arrived += 1
    channel.send((timed_ns, arrived, checksum(got), ending, socket.poll(0)))
