"""Round trips of bytes between a process and its child, over the `Pipe` and `Queue` of Python's multiprocessing manual.

It follows the manual's section "Exchanging objects between processes" (docs.python.org/3/library/multiprocessing.html).
Takes `Pipe` or `Queue`, then sizes in bytes. Prints seconds per round trip by size, the median over repeats. The child
sends back the message that it received; an empty message ends it.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import statistics
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any

REPEATS = 20
REPEAT_SECONDS = 0.05


def answer_pipe(connection: Connection[Any, Any]) -> None:
    """The child of `Pipe`."""
    while message := connection.recv_bytes():
        connection.send_bytes(message)


def answer_queue(questions: multiprocessing.Queue[bytes], answers: multiprocessing.Queue[bytes]) -> None:
    """The child of `Queue`."""
    while message := questions.get():
        answers.put(message)


def trips(send: Callable[[bytes], Any], receive: Callable[[], bytes], payload: bytes, count: int) -> float:
    """Seconds per round trip."""
    began = perf_counter()
    for _ in range(count):
        send(payload)
        receive()
    return (perf_counter() - began) / count


def main(kind: str, *sizes: str) -> None:
    """Start the child, and measure every size."""
    spawn = multiprocessing.get_context("spawn")
    send: Callable[[bytes], Any]
    receive: Callable[[], bytes]
    if kind == "Pipe":
        ours, theirs = spawn.Pipe()
        child = spawn.Process(target=answer_pipe, args=(theirs,))
        send, receive = ours.send_bytes, ours.recv_bytes
    else:
        questions, answers = spawn.Queue(), spawn.Queue()
        child = spawn.Process(target=answer_queue, args=(questions, answers))
        send, receive = questions.put, answers.get
    child.start()
    found = {}
    for size in map(int, sizes):
        payload = os.urandom(size)
        count = max(1, int(REPEAT_SECONDS / trips(send, receive, payload, 100)))
        found[size] = statistics.median(trips(send, receive, payload, count) for _ in range(REPEATS))
    send(b"")
    child.join()
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
