"""Messages/s over a connection that was guarded by a password, divided by those over one that was not.

Two processes, PUSH to PULL over tcp and ipc, copying. Blocks over both connections take turns in random order; prints
the geometric mean of the ratios of neighbouring blocks, with an interval over pairs. Nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
from multiprocessing.connection import Connection
from time import perf_counter

import numpy as np
import zmq

from crossover.analyse.statistics.intervals import estimate
from crossover.measure.ranks.admission import Admission, connect

SIZES_BYTES = (100, 10_000)
KINDS = ("guarded", "open")


def receiver(pipe: Connection, address: str) -> None:
    """The receiving process: binds a socket of each kind, then receives the blocks that it is told of."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    admission = Admission(context)
    sockets = {kind: context.socket(zmq.PULL) for kind in KINDS}
    admission.guard(sockets["guarded"])
    for kind, socket in sockets.items():
        socket.set_hwm(0)
        socket.bind(address.replace("KIND", kind))
    pipe.send(
        ({kind: socket.getsockopt_string(zmq.LAST_ENDPOINT) for kind, socket in sockets.items()}, admission.password)
    )
    pipe.recv()
    admission.close()
    while command := pipe.recv():
        kind, count = command
        pipe.send("ready")
        take = sockets[kind].recv
        for _ in range(count):
            take()
        pipe.send("done")


def measure(address: str, pairs: int, seconds: float) -> None:
    """Print the ratio of each size over this transport."""
    pipe, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=receiver, args=(theirs, address))
    process.start()
    endpoints, password = pipe.recv()
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    sockets = {kind: context.socket(zmq.PUSH) for kind in KINDS}
    for kind, socket in sockets.items():
        socket.set_hwm(0)
        if kind == "guarded":
            connect(socket, endpoints[kind], password)
        else:
            socket.connect(endpoints[kind])
    pipe.send("connected")

    def block(kind: str, payload: bytes, count: int) -> float:
        pipe.send((kind, count))
        pipe.recv()
        send = sockets[kind].send
        began = perf_counter()
        for _ in range(count):
            send(payload)
        pipe.recv()
        return perf_counter() - began

    for size in SIZES_BYTES:
        payload = os.urandom(size)
        count = round(10_000 * seconds / min(block("open", payload, 10_000) for _ in range(3)))
        found = []
        for _ in range(pairs):
            lasted = {kind: block(kind, payload, count) for kind in random.sample(KINDS, 2)}
            found.append(np.log(lasted["open"] / lasted["guarded"]))
        ratio = estimate(np.array(found)[:, np.newaxis])
        mean, low, high = (np.exp(each[0]) for each in (ratio.mean, ratio.low, ratio.high))
        print(f"{address.partition(':')[0]}, {size:,} bytes: {mean:.3f} [{low:.3f}, {high:.3f}], {pairs} pairs")
    pipe.send(None)
    process.join()
    context.destroy(linger=0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=60, help="pairs of blocks (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.25, help="length of a block (default: %(default)s)")
    chosen = parser.parse_args()
    for url in ("tcp://127.0.0.1:*", f"ipc://@crossover-KIND-{os.getpid()}"):
        measure(url, chosen.pairs, chosen.seconds)
