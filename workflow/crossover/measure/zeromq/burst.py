"""A burst: n messages on an idle connection, timed from the first send to the last arrival.

The receiver reports that it is ready. The sender sends n messages and then, untimed, a sentinel with the burst's number
and count. The receiver takes n messages and one more, and acknowledges on a channel that is otherwise idle: the last
message's checksum, the extra message, and whether the queue is empty. A burst with a wrong acknowledgement has no
value, and no message leaks into the next burst.

- throughput = messages / (last receive - first send): `perf_counter_ns` is one clock for all of a host's processes. Two
  hosts have two clocks. There the receiver reports the last message at once, and the time ends when the sender gets
  this report: messages / (report - first send). Either is late by the latency of one message.
- send rate  = messages / time of the send loop; without a high-water mark no send call blocks. - overstatement = the
rate between the first receive and the last, by the receiver's clock, divided by the throughput: the
  window of pyzmq's notebook leaves out the time before the first arrival.

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

from crossover.measure.ranks.channel import Channel
from crossover.measure.sampling.contract import Block
from crossover.measure.zeromq.flood import Send, Take
from crossover.measure.zeromq.sockets import Socket


@dataclass(frozen=True)
class Burst:
    """The times of a burst, in ns of the sender's clock; `fault` says why it does not count.

    `window_ns` is from the first message's arrival to the last one's, by the receiver's clock; 0 for one message.
    """

    began: int
    sent: int
    last: int
    window_ns: int
    fault: str = ""


@dataclass(frozen=True)
class Way:
    """How the sender learns that a burst has arrived: an answer over its socket, a message on the channel, or, on one
    host, the receiver's clock."""

    answered: bool
    two_clocks: bool


def send(channel: Channel, socket: Socket, loop: Send, payload: bytes, number: int, count: int, way: Way) -> Burst:
    """Send burst `number`, after the other end has reported that it is ready."""
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
    """The block of these bursts: its throughput, send rate and overstatement."""
    moving = sum(burst.last - burst.began for burst in bursts) / 1e9
    for burst in bursts:
        if burst.fault:
            return Block(moving, fault=burst.fault)
    values = {"throughput": messages / moving, "send rate": messages / sum(b.sent - b.began for b in bursts) * 1e9}
    # For a single message, the published window is empty.
    if all(burst.window_ns for burst in bursts):
        values["overstatement"] = moving / sum(burst.window_ns for burst in bursts) * 1e9
    return Block(moving, values)


def receive(channel: Channel, socket: Socket, loop: Take, count: int, way: Way) -> None:
    """Receive a burst, without doing anything else between the first message and the last."""
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
    # The last part of each message, which may start with an identity.
    ending = socket.recv_multipart()[-1]
    channel.send((first, last, checksum, ending, socket.poll(0)))
