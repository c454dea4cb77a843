"""PUSH to PULL between two processes: what copying and zero-copy sends can move, and how fast they return.

One block is one or more *bursts*. The receiver says it is ready; the sender sends n messages and then, untimed,
a sentinel with the burst's number and count. The receiver takes n messages and one more, and acknowledges on a
channel that is idle meanwhile: the last message's checksum, the one more, and whether the queue is empty. A
burst whose acknowledgement is not as it must be has no number, and nothing leaks into the next.

- throughput = messages / (last receive - first send): `perf_counter_ns` is one clock for all of a host's processes.
- send rate  = messages / time of the send loop: with no high-water mark no send can block. What bounds the
  queue is the burst, `in_flight_bytes` at most.

Both sides follow the arm: `no-copy` sends and receives with `copy=False`.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter_ns
from typing import Any

import zmq

from crossover.measure.peers import LOOPBACK, Channel, Peers
from crossover.measure.sampler import Axis, Block, Cell, Metric
from crossover.plan import Arm, points

AXIS = Axis("message size", "bytes")
METRICS = (
    Metric("throughput", "messages/s", "higher"),
    Metric("bandwidth", "MB/s", "higher"),
    Metric("send rate", "messages/s", "higher"),
)

# Read when a socket is created: above 0 (64 kB by default) `copy=False` copies all smaller messages silently.
zmq.COPY_THRESHOLD = 0


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per transport and message size."""
    limit = settings["in_flight_bytes"] // 1_000_000
    return [
        Cell(f"PUSH/PULL over {transport}, {limit} MB in flight", size, transport)
        for transport in settings["transports"]
        for size in points(settings["sizes_bytes"])
    ]


def _address(transport: str) -> str:
    # An abstract socket, which leaves no file behind; loopback only: nobody else is to reach this port.
    return f"ipc://@crossover-{os.getpid()}-{os.urandom(6).hex()}" if transport == "ipc" else f"tcp://{LOOPBACK}:*"


def _unbounded(context: zmq.Context[Any], kind: int) -> zmq.Socket[bytes]:
    socket: zmq.Socket[bytes] = context.socket(kind)
    socket.set_hwm(0)
    socket.linger = 0
    return socket


class Sender:
    """Rank 0: pushes, and commands the receiver."""

    def __init__(self, channel: Channel, sockets: dict[str, zmq.Socket[bytes]], in_flight_bytes: int):
        self.channel = channel
        self.sockets = sockets
        self.in_flight_bytes = in_flight_bytes
        self.number = 0
        self.payload = b""

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Move `n` messages of `cell.x` bytes, in as many bursts as the bytes in flight ask for."""
        if len(self.payload) != cell.x:
            self.payload = os.urandom(cell.x)
        most = max(1, self.in_flight_bytes // cell.x)
        bursts = [most] * (n // most) + [n % most] * (n % most > 0)
        sending = moving = 0
        for count in bursts:
            sent, moved, fault = self._burst(self.sockets[cell.variant], cell.variant, arm.runs == "copy", count)
            sending, moving = sending + sent, moving + moved
            if fault:
                return Block(moving / 1e9, fault=fault)
        rate = n * 1e9 / moving
        return Block(
            moving / 1e9,
            {"throughput": rate, "bandwidth": rate * cell.x / 1e6, "send rate": n * 1e9 / sending},
        )

    def _burst(self, socket: zmq.Socket[bytes], transport: str, copy: bool, count: int) -> tuple[int, int, str]:
        """Nanoseconds in the send loop, nanoseconds from first send to last receive, and a fault if any."""
        self.number += 1
        payload, send = self.payload, socket.send
        sentinel = b"end of burst %d, %d messages" % (self.number, count)
        self.channel.send((transport, copy, count))
        self.channel.receive()
        began = perf_counter_ns()
        for _ in range(count):
            send(payload, 0, copy)
        ended = perf_counter_ns()
        send(sentinel)
        received_at, checksum, ending, leftover = self.channel.receive()
        sane = (checksum, ending, leftover) == (zlib.crc32(payload), sentinel, 0)
        fault = "" if sane else "lost or damaged messages"
        return ended - began, received_at - began, fault


@contextmanager
def drive(peers: Peers, settings: dict[str, Any]) -> Iterator[Sender]:
    """Connect one PUSH socket per transport to the receiver on rank 1."""
    channel = peers.channel(to=1)
    with zmq.Context() as context:
        sockets = {}
        for transport in settings["transports"]:
            sockets[transport] = _unbounded(context, zmq.PUSH)
            sockets[transport].connect(channel.receive())
        yield Sender(channel, sockets, settings["in_flight_bytes"])
        channel.send(None)
        context.destroy(linger=0)
    channel.close()


def serve(peers: Peers, settings: dict[str, Any]) -> None:
    """Receive bursts until told to stop; the timed loop does nothing but receive."""
    channel = peers.channel(to=0)
    with zmq.Context() as context:
        sockets = {}
        for transport in settings["transports"]:
            sockets[transport] = _unbounded(context, zmq.PULL)
            sockets[transport].bind(_address(transport))
            channel.send(sockets[transport].getsockopt_string(zmq.LAST_ENDPOINT))
        while command := channel.receive():
            transport, copy, count = command
            socket = sockets[transport]
            channel.send("ready")
            ended, last = _receive(socket, count, copy)
            checksum = zlib.crc32(last if isinstance(last, bytes) else last.buffer)
            channel.send((ended, checksum, socket.recv(), socket.poll(0)))
        context.destroy(linger=0)
    channel.close()


def _receive(socket: zmq.Socket[bytes], count: int, copy: bool) -> tuple[int, bytes | zmq.Frame]:
    receive = socket.recv
    last: bytes | zmq.Frame = b""
    for _ in range(count):
        last = receive(copy=copy)
    return perf_counter_ns(), last
