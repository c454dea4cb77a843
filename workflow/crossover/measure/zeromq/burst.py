"""A burst: n messages on an idle connection, timed from the first send to the last arrival.

The receiver reports that it is ready. The sender sends n messages and then, untimed, a sentinel with the burst's number
and count. The receiver receives all of them, and sends an acknowledgement on a channel that is otherwise idle: the last
message's checksum, the sentinel, and the number of messages left in the queue. A burst with a wrong acknowledgement has
no value. So no message of one burst is counted in the next.

- throughput = messages / (last receive - first send), both on `perf_counter_ns`, the one clock of a host's processes.
  Two hosts have two clocks. There the receiver reports the last message at once, and the throughput is messages /
  (arrival of this report - first send). Both are late by the latency of one message.
- send rate = messages / time of the send loop. Without a high-water mark, no send call blocks.
- overstatement = the rate between the first and the last receive, by the receiver's clock, divided by the throughput.
  pyzmq's notebook publishes that rate, which leaves out the time before the first arrival.

Multipart messages, from DEALER to ROUTER, are timed as by pyzmq's own `perf.py`: the receiver answers the last message,
and the time ends when this answer arrives.
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
    """The times of a burst, in ns of the sender's clock; with a `fault`, it does not count.

    `window_ns` is the time between the first and the last arrival, by the receiver's clock; 0 for one message.
    """

    began: int
    sent: int
    last: int
    window_ns: int
    fault: str = ""


@dataclass(frozen=True)
class Way:
    """How the sender learns when a burst has arrived: by an `answered` message on the socket, or with `two_clocks` by a
    report on the channel; otherwise from the receiver's clock."""

    answered: bool
    two_clocks: bool


def send(channel: Channel, socket: Socket, loop: Send, payload: bytes, number: int, count: int, way: Way) -> Burst:
    """Send burst `number`, after the other end has reported that it is ready."""
    sentinel = b"end of burst %d, %d messages" % (number, count)
    channel.receive()
    began = perf_counter_ns()
    loop(count)
    sent = perf_counter_ns()
    arrived = 0
    if way.answered:
        socket.recv_multipart()
        arrived = perf_counter_ns()
    elif way.two_clocks:
        channel.receive()
        arrived = perf_counter_ns()
    socket.send(sentinel)
    first, last, checksum, ending, leftover = channel.receive()
    sane = (checksum, ending, leftover) == (zlib.crc32(payload), sentinel, 0)
    return Burst(began, sent, arrived or last, last - first, "" if sane else "lost or damaged messages")


def block(bursts: Sequence[Burst], messages: int) -> Block:
    """The block of these bursts: its throughput, send rate and overstatement."""
    moving = sum(burst.last - burst.began for burst in bursts) / 1e9
    for burst in bursts:
        if burst.fault:
            return Block(moving, fault=burst.fault)
    values = {"throughput": messages / moving, "send rate": messages / sum(b.sent - b.began for b in bursts) * 1e9}
    # Between the first and the last arrival of a single message there is no time.
    if all(burst.window_ns for burst in bursts):
        values["overstatement"] = moving / sum(burst.window_ns for burst in bursts) * 1e9
    return Block(moving, values)


def receive(channel: Channel, socket: Socket, loop: Take, count: int, way: Way) -> None:
    """Receive a burst; does nothing else between the first message and the last."""
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
        channel.send("complete")
    checksum = zlib.crc32(got.buffer if isinstance(got, zmq.Frame) else got)
    # The last part of each message, which may start with an identity.
    ending = socket.recv_multipart()[-1]
    channel.send((first, last, checksum, ending, socket.poll(0)))
