"""A burst: so many messages on a connection that was idle, timed from the first send to the last arrival.

The receiver says that it is ready; the sender sends n messages and then, untimed, a sentinel with the burst's number
and count. The receiver takes n messages and one more, and acknowledges on a channel that is idle meanwhile: the last
message's checksum, the one more, and whether the queue is empty. A burst whose acknowledgement is not as it must be has
no number, and nothing leaks into the next.

- throughput = messages / (last receive - first send): `perf_counter_ns` is one clock for all of a host's processes.
  Two hosts have two clocks. There the receiver says so at once when it has the last message, and the time ends when
  the sender hears it: messages / (last heard of - first send). Either is a little late, by one message's latency.
- send rate  = messages / time of the send loop: with no high-water mark no send can block.
- overstatement = the rate between the first receive and the last, both by the receiver's clock, divided by the
  throughput: the window that pyzmq's notebook names leaves out what comes before the first arrival.

Multipart messages, from DEALER to ROUTER, follow pyzmq's own `perf.py`: the receiver answers the last one, and the
throughput ends when that answer is back.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

import zmq

from crossover.measure.engine.contract import Block
from crossover.measure.ranks.channel import Channel
from crossover.measure.zeromq.flood import Send, Take
from crossover.measure.zeromq.sockets import Socket


@dataclass(frozen=True)
class Burst:
    """When things happened to a burst, in ns of the sender's clock; `fault` says why it does not count.

    `window_ns` is from the first message's arrival to the last one's, by the receiver's clock; 0 for one message.
    """

    began: int
    sent: int
    last: int
    window_ns: int
    fault: str = ""


@dataclass(frozen=True)
class Way:
    """How the sender learns that a burst has arrived: an answer over its socket, a word of the channel, or, on one
    host, the receiver's clock."""

    answered: bool
    two_clocks: bool


def send(channel: Channel, socket: Socket, loop: Send, payload: bytes, number: int, count: int, way: Way) -> Burst:
    """Be the sending end of burst `number`, when the other has said that it is ready."""
    sentinel = b"end of burst %d, %d messages" % (number, count)
    channel.receive()
    began = perf_counter_ns()
    loop(count)
    sent = perf_counter_ns()
    heard = 0
    if way.answered:
        socket.recv_multipart()
        heard = perf_counter_ns()
    elif way.two_clocks:
        channel.receive()
        heard = perf_counter_ns()
    socket.send(sentinel)
    first, last, checksum, ending, leftover = channel.receive()
    sane = (checksum, ending, leftover) == (zlib.crc32(payload), sentinel, 0)
    return Burst(began, sent, heard or last, last - first, "" if sane else "lost or damaged messages")


def block(bursts: Sequence[Burst], messages: int) -> Block:
    """The block that bursts of so many messages in all make: its throughput, send rate and overstatement."""
    moving = sum(burst.last - burst.began for burst in bursts) / 1e9
    for burst in bursts:
        if burst.fault:
            return Block(moving, fault=burst.fault)
    values = {"throughput": messages / moving, "send rate": messages / sum(b.sent - b.began for b in bursts) * 1e9}
    # Of one message alone the published window is empty.
    if all(burst.window_ns for burst in bursts):
        values["overstatement"] = moving / sum(burst.window_ns for burst in bursts) * 1e9
    return Block(moving, values)


def receive(channel: Channel, socket: Socket, loop: Take, count: int, way: Way) -> None:
    """Be the receiving end of a burst; between the first message and the last it does nothing but receive."""
    channel.send("ready")
    got: Any = loop(1)
    first = last = perf_counter_ns()
    if count > 1:
        got = loop(count - 1)
        last = perf_counter_ns()
    if way.answered:
        identity, got = got
        socket.send_multipart([identity, b"DONE"])
    elif way.two_clocks:
        channel.send("all there")
    checksum = zlib.crc32(got.buffer if isinstance(got, zmq.Frame) else got)
    # The last part of whatever comes: before it may be an identity.
    ending = socket.recv_multipart()[-1]
    channel.send((first, last, checksum, ending, socket.poll(0)))
