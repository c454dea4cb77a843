"""PUSH to PULL over ipc between two processes, as a user would write it in ten minutes: no sampler, no checks.

Takes size:messages. Prints messages/s by size, from the first send to the last receive, as the median over bursts. With
`--ranks`, the two processes are ranks of an MPI launch instead of a parent and its child.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import statistics
import sys
from time import perf_counter_ns
from typing import Any

import zmq

BURSTS = 12


def open_socket(kind: int) -> zmq.Socket[bytes]:
    """A socket without limits, in a context of its own."""
    socket: zmq.Socket[bytes] = zmq.Context().socket(kind)
    socket.set_hwm(0)
    return socket


def receive(address: str) -> None:
    """Receive bursts until told to stop; report the end of each."""
    commands = open_socket(zmq.PAIR)
    commands.connect(address)
    socket = open_socket(zmq.PULL)
    name = f"ipc://@plain-{os.getpid()}"
    socket.bind(name)
    commands.send_pyobj(name)
    while count := commands.recv_pyobj():
        for _ in range(count):
            socket.recv()
        commands.send_pyobj(perf_counter_ns())


def flood(commands: zmq.Socket[bytes], plan: list[str]) -> None:
    """Send a flood of each size; print the rates."""
    socket = open_socket(zmq.PUSH)
    socket.connect(commands.recv_pyobj())

    def burst(payload: bytes, count: int) -> float:
        commands.send_pyobj(count)
        began = perf_counter_ns()
        for _ in range(count):
            socket.send(payload)
        return float(commands.recv_pyobj() - began) / 1e9

    rates = {}
    for size, count in (map(int, each.split(":")) for each in plan):
        payload = os.urandom(size)
        burst(payload, count)
        rates[size] = statistics.median(count / burst(payload, count) for _ in range(BURSTS))
    commands.send_pyobj(0)
    print(json.dumps(rates))


def main(*plan: str) -> None:
    """Be both processes, or one of the ranks."""
    comm: Any = None
    if "--ranks" in plan:
        from mpi4py import MPI

        comm = MPI.COMM_WORLD
        if comm.rank:
            receive(comm.recv(source=0))
            return
    commands = open_socket(zmq.PAIR)
    commands.bind("tcp://127.0.0.1:*")
    address = commands.getsockopt_string(zmq.LAST_ENDPOINT)
    if comm:
        comm.send(address, dest=1)
    else:
        multiprocessing.get_context("spawn").Process(target=receive, args=(address,)).start()
    flood(commands, [each for each in plan if each != "--ranks"])


if __name__ == "__main__":
    main(*sys.argv[1:])
