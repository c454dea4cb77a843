"""Round trips of a float64 array over REQ and REP by ipc, by the functions of pyzmq's manual.

It follows the page "Serializing messages with PyZMQ" (pyzmq.readthedocs.io/en/latest/howto/serialization.html). Takes
`array` for its `send_array` and `recv_array`, `array msgpack` for the same with a header by msgpack instead of JSON, or
`pyobj` for `send_pyobj` and `recv_pyobj`, which pickle; then sizes in bytes. Prints seconds per round trip by size, the
median over repeats. The child sends back the array that it received; one without elements ends it.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import statistics
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import msgpack
import numpy as np
import zmq
from numpy.typing import NDArray

REPEATS = 20
REPEAT_SECONDS = 0.05
Array = NDArray[Any]
Socket = zmq.Socket[bytes]


def send_array(socket: Any, array: Array) -> None:
    """The manual's function: a header, then the buffer, copied."""
    socket.send_json({"dtype": str(array.dtype), "shape": array.shape}, zmq.SNDMORE)
    socket.send(array, copy=True)


def recv_array(socket: Socket) -> Array:
    """The manual's function."""
    header: Any = socket.recv_json()
    return np.frombuffer(memoryview(socket.recv()), header["dtype"]).reshape(header["shape"])


def send_packed(socket: Any, array: Array) -> None:
    """The same with a header like ours."""
    socket.send(msgpack.packb((array.dtype.str, array.shape)), zmq.SNDMORE)
    socket.send(array, copy=True)


def recv_packed(socket: Socket) -> Array:
    """The same with a header like ours."""
    dtype, shape = msgpack.unpackb(socket.recv())
    return np.frombuffer(memoryview(socket.recv()), dtype).reshape(shape)


WAYS: dict[str, tuple[Callable[[Socket, Array], Any], Callable[[Socket], Array]]] = {
    "array": (send_array, recv_array),
    "array msgpack": (send_packed, recv_packed),
    "pyobj": (zmq.Socket.send_pyobj, zmq.Socket.recv_pyobj),
}


def answer(kind: str, address: str) -> None:
    """The child."""
    send, receive = WAYS[kind]
    socket: Socket = zmq.Context().socket(zmq.REP)
    socket.connect(address)
    while (array := receive(socket)).size:
        send(socket, array)


def main(kind: str, *sizes: str) -> None:
    """Start the child, and measure every size."""
    send, receive = WAYS[kind]
    socket: Socket = zmq.Context().socket(zmq.REQ)
    address = f"ipc://@plain-{os.getpid()}"
    socket.bind(address)
    multiprocessing.get_context("spawn").Process(target=answer, args=(kind, address)).start()

    def seconds(array: Array, count: int) -> float:
        began = perf_counter()
        for _ in range(count):
            send(socket, array)
            receive(socket)
        return (perf_counter() - began) / count

    found = {}
    for size in map(int, sizes):
        array = np.random.default_rng(size).random(size // 8)
        seconds(array, 1)
        count = max(1, int(REPEAT_SECONDS / seconds(array, 20)))
        found[size] = statistics.median(seconds(array, count) for _ in range(REPEATS))
    send(socket, np.zeros(0))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
