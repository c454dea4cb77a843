"""The candidates of `crossover try` for an object in a plain program: each makes 20 round trips in turn.

    mpiexec -n 2 python benchmarks/plain_object.py docs/examples/send_table.py 1 1000

Takes a user's file with `message(count)`, and counts; prints milliseconds of a round trip by count, the median over
turns. The other end is rank 1, or a child of rank 0. Nothing of crossover is imported.
"""

import importlib
import json
import multiprocessing
import pickle
import statistics
import sys
import time
from pathlib import Path

import msgpack
import numpy as np
import zmq

TURNS = 20


def ways(socket, comm, outside, other, empty):
    """Calls to send and receive, by name; those of MPI receive an array into `empty`."""

    def send_frames(value, copy):
        buffers = []
        pickled = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
        socket.send_multipart([pickled, *(buffer.raw() for buffer in buffers)], copy=copy)

    def receive_frames(copy):
        pickled, *buffers = socket.recv_multipart(copy=copy)
        return pickle.loads(pickled, buffers=buffers)

    return {
        "ZeroMQ pickle": (lambda value: socket.send_pyobj(value, protocol=5), socket.recv_pyobj),
        "ZeroMQ out of band": (lambda value: send_frames(value, True), lambda: receive_frames(True)),
        "ZeroMQ out of band no-copy": (lambda value: send_frames(value, False), lambda: receive_frames(False)),
        "mpi4py send": (lambda value: comm.send(value, other), lambda: comm.recv(source=other)),
        "mpi4py pkl5 send": (lambda value: outside.send(value, other), lambda: outside.recv(source=other)),
        "mpi4py Send": (lambda value: comm.Send(value, other), lambda: comm.Recv(empty, other)),
        "msgpack": (lambda value: socket.send(msgpack.packb(value)), lambda: msgpack.unpackb(socket.recv())),
        "JSON": (lambda value: socket.send(json.dumps(value).encode()), lambda: json.loads(socket.recv())),
    }


def carries(name, value):
    """Whether this way can carry the object."""
    if name == "mpi4py Send":
        return isinstance(value, np.ndarray)
    try:
        return {"msgpack": msgpack.packb, "JSON": json.dumps}.get(name, bool)(value) is not None
    except (TypeError, ValueError, OverflowError):
        return name not in ("msgpack", "JSON")


def child(folder, stem, counts, pipe, inbox, outbox):
    """Reply to each message with an object of its own."""
    sys.path.insert(0, folder)
    for count in counts:
        value = importlib.import_module(stem).message(count)
        for _ in range(TURNS):
            pipe.recv()
            pipe.send(value)
            inbox.get()
            outbox.put(value)


def main(file, *counts):
    """Print the medians on rank 0."""
    # The import starts MPI, and the child imports this file too.
    from mpi4py import MPI
    from mpi4py.util import pkl5

    comm = MPI.COMM_WORLD
    counts, path = [int(count) for count in counts], Path(file)
    sys.path.insert(0, str(path.parent))
    message, first = importlib.import_module(path.stem).message, not comm.rank
    socket = zmq.Context.instance().socket(zmq.PAIR)
    if not first:
        socket.bind("ipc://@plain-object")
    comm.barrier()
    local = {}
    if first:
        socket.connect("ipc://@plain-object")
        spawn = multiprocessing.get_context("spawn")
        (ours, theirs), there, back = spawn.Pipe(), spawn.Queue(), spawn.Queue()
        arguments = (str(path.parent), path.stem, counts, theirs, there, back)
        spawn.Process(target=child, args=arguments, daemon=True).start()
        local = {"Pipe send": (ours.send, ours.recv), "Queue": (there.put, back.get)}
    for count in counts:
        value, times = message(count), {}
        empty = np.empty_like(value) if isinstance(value, np.ndarray) else None
        remote = ways(socket, comm, pkl5.Intracomm(comm), 1 - comm.rank, empty)
        for _ in range(TURNS):
            for name, (send, receive) in {**local, **remote}.items():
                if name in remote:
                    if not carries(name, value):
                        continue
                    comm.barrier()
                if first:
                    began = time.perf_counter()
                    send(value)
                    receive()
                    times.setdefault(name, []).append(time.perf_counter() - began)
                else:
                    receive()
                    send(value)
        if first:
            print(count, {name: f"{1000 * statistics.median(own):.3g} ms" for name, own in times.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
