"""PUSH to PULL over ipc between two processes, as one would write it in ten minutes: no engine, no checks.

Prints messages/s by size, the median over bursts; from the first send to the last receive, as ours.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import statistics
import sys
from multiprocessing.connection import Connection
from time import perf_counter_ns

import zmq

BURSTS = 60
BURST_SECONDS = 0.012


def receive(address: str, pipe: Connection) -> None:
    """Take bursts until told to stop; tell when each was complete."""
    socket = zmq.Context().socket(zmq.PULL)
    socket.set_hwm(0)
    socket.bind(address)
    pipe.send("bound")
    while count := pipe.recv():
        for _ in range(count):
            socket.recv()
        pipe.send(perf_counter_ns())


def main() -> None:
    """Flood with each of the sizes given."""
    address = f"ipc://@plain-{os.getpid()}"
    pipe, other = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=receive, args=(address, other))
    process.start()
    pipe.recv()
    socket = zmq.Context().socket(zmq.PUSH)
    socket.set_hwm(0)
    socket.connect(address)

    def burst(payload: bytes, count: int) -> float:
        pipe.send(count)
        began = perf_counter_ns()
        for _ in range(count):
            socket.send(payload)
        return (pipe.recv() - began) / 1e9

    rates = {}
    for size in map(int, sys.argv[1:]):
        payload = os.urandom(size)
        burst(payload, 100)
        count = min(max(1, round(100 * BURST_SECONDS / burst(payload, 100))), 64_000_000 // size)
        rates[size] = statistics.median(count / burst(payload, count) for _ in range(BURSTS))
    pipe.send(0)
    process.join()
    print(json.dumps(rates))


if __name__ == "__main__":
    main()
