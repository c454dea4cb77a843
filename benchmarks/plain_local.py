"""Round trips of bytes between a process and its child, over a pipe, a queue, or a PAIR socket of ZeroMQ.

`Pipe` and `Queue` follow the section "Exchanging objects between processes" of Python's manual
(docs.python.org/3/library/multiprocessing.html); `Pipe` sends bytes, `Pipe send` objects, and `Pipe one-way` has a pipe
there and one back. Takes the way, the cores of both ends (`own`, a core each, or `shared`), then sizes in bytes. Prints
seconds per round trip by size, the median over repeats. The child sends back the message that it received; an empty
message ends it.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import statistics
import sys
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any

import zmq

REPEATS = 20
REPEAT_SECONDS = 0.01


def answer(receive: Callable[[], Any], send: Callable[[Any], Any]) -> None:
    """Send back each message."""
    while len(message := receive()):
        send(message)


def answer_pipes(reader: Connection[Any, Any], writer: Connection[Any, Any], pickles: bool) -> None:
    """The child of the pipes."""
    answer(reader.recv, writer.send) if pickles else answer(reader.recv_bytes, writer.send_bytes)


def answer_queue(questions: multiprocessing.Queue[bytes], answers: multiprocessing.Queue[bytes]) -> None:
    """The child of `Queue`."""
    answer(questions.get, answers.put)


def answer_pair(address: str, copy: bool) -> None:
    """The child of a socket."""
    socket = zmq.Context.instance().socket(zmq.PAIR)
    socket.connect(address)
    answer(partial(socket.recv, copy=copy), partial(socket.send, copy=copy))


def trips(send: Callable[[bytes], Any], receive: Callable[[], Any], payload: bytes, count: int) -> float:
    """Seconds per round trip."""
    began = perf_counter()
    for _ in range(count):
        send(payload)
        receive()
    return (perf_counter() - began) / count


def main(kind: str, binding: str, *sizes: str) -> None:
    """Start the child, and measure every size."""
    spawn = multiprocessing.get_context("spawn")
    send: Callable[[bytes], Any]
    receive: Callable[[], Any]
    if kind.startswith("Pipe"):
        if kind == "Pipe one-way":
            (there, ours), (back, theirs) = spawn.Pipe(duplex=False), spawn.Pipe(duplex=False)
        else:
            ours, there = back, theirs = spawn.Pipe()
        child = spawn.Process(target=answer_pipes, args=(there, theirs, kind == "Pipe send"))
        send, receive = (ours.send, back.recv) if kind == "Pipe send" else (ours.send_bytes, back.recv_bytes)
    elif kind == "Queue":
        questions, answers = spawn.Queue(), spawn.Queue()
        child = spawn.Process(target=answer_queue, args=(questions, answers))
        send, receive = questions.put, answers.get
    else:
        copy, address = kind == "PAIR", f"ipc://@plain-{os.getpid()}"
        child = spawn.Process(target=answer_pair, args=(address, copy))
    # The child, and threads that start later, inherit the cores of this thread.
    first, *others = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {first} if binding == "shared" else {others[0]})
    child.start()
    os.sched_setaffinity(0, {first})
    if kind.startswith("PAIR"):
        socket = zmq.Context.instance().socket(zmq.PAIR)
        socket.bind(address)
        send, receive = partial(socket.send, copy=copy), partial(socket.recv, copy=copy)
    found = {}
    for size in map(int, sizes):
        payload = os.urandom(size)
        count = max(1, int(REPEAT_SECONDS / trips(send, receive, payload, 100)))
        seconds = []
        for _ in range(REPEATS):
            seconds.append(trips(send, receive, payload, count))
        found[size] = statistics.median(seconds)
    send(b"")
    child.join()
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
