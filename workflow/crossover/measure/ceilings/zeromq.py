"""ZeroMQ in C, on the very sockets of pyzmq: the halves of a flood, and round trips.

A socket of pyzmq may be used by Python and by C in turn, from one thread. Times are those of `time.perf_counter_ns`.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zmq

from crossover.measure.build import loader
from crossover.measure.ceilings import Bytes, Exchange, address, function

FLOOD = "zmq_push_pull"
PINGPONG = "zmq_pingpong"

Push = Callable[[Bytes, int, bool], tuple[int, int]]
"""Of (payload, n, copy): send `n` messages; when it began and when the last call returned, in nanoseconds. Without
`copy` the library borrows the payload, which must not change until all have arrived."""

Pull = Callable[[Bytes, int, bool], int]
"""Of (inbox, n, copy): receive `n` messages of the inbox's length; when the last had come, in nanoseconds. The last is
in the inbox then; with `copy` every other has been there too."""


def push(socket: zmq.Socket[Any]) -> Push:
    """The sending half of a flood, over a connected PUSH socket."""
    types = (*(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long, ctypes.c_int), *[ctypes.c_void_p] * 2)
    call = function(_load(FLOOD), "zmq_push", *types)

    def flood(payload: Bytes, n: int, copy: bool) -> tuple[int, int]:
        began, ended = ctypes.c_int64(), ctypes.c_int64()
        _check(
            call(
                *(socket.underlying, address(payload), len(payload), n, copy),
                *(ctypes.byref(began), ctypes.byref(ended)),
            )
        )
        return began.value, ended.value

    return flood


def pull(socket: zmq.Socket[Any]) -> Pull:
    """The receiving half of a flood, over a connected PULL socket."""
    types = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long, ctypes.c_int, ctypes.c_void_p)
    call = function(_load(FLOOD), "zmq_pull", *types)

    def drain(inbox: Bytes, n: int, copy: bool) -> int:
        ended = ctypes.c_int64()
        _check(call(socket.underlying, address(inbox), len(inbox), n, copy, ctypes.byref(ended)))
        return ended.value

    return drain


def pingpong(socket: zmq.Socket[Any], first: bool) -> Exchange:
    """Round trips over connected sockets, REQ and REP or two PAIRs; the end that is `first` sends first."""
    types = (
        *(ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long),
        ctypes.c_void_p,
    )
    call = function(_load(PINGPONG), "zmq_pingpong", *types)

    def exchange(outbox: Bytes, inbox: Bytes, n: int) -> float:
        ns = ctypes.c_int64()
        _check(call(socket.underlying, first, address(outbox), address(inbox), len(outbox), n, ctypes.byref(ns)))
        return ns.value / 1e9

    return exchange


def _load(name: str) -> ctypes.CDLL:
    """The library, its calls of libzmq resolved in the one that pyzmq has loaded."""
    mapped = re.findall(r"/\S*libzmq\S*\.so\S*", Path("/proc/self/maps").read_text(errors="replace"))
    # A wheel brings its own beside itself; another build of the library may be loaded too.
    brought = Path(zmq.__file__).parents[1]
    mapped.sort(key=lambda path: not Path(path).is_relative_to(brought))
    if not mapped:
        raise loader.UnavailableError(
            "this pyzmq has libzmq built into itself, where no other library finds it; install a pyzmq that links to a "
            "libzmq of its own, as its wheels for Linux do"
        )
    ctypes.CDLL(mapped[0], mode=ctypes.RTLD_GLOBAL)
    return loader.load(name)


def _check(error: int) -> None:
    if error:
        raise OSError(error, f"ZeroMQ in C failed: {zmq.strerror(error) or os.strerror(error)}")
