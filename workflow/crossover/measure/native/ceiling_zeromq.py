"""ZeroMQ in C, on pyzmq's own sockets: the two halves of a flood, and round trips.

Python and C may use a socket in turn, from one thread. Times are on the clock of `time.perf_counter_ns`.
"""

import ctypes
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zmq

from crossover.measure.native import loader
from crossover.measure.native.ceiling import Bytes, Exchange, address, exchange, function

Push = Callable[[Bytes, int, bool], tuple[int, int]]
"""A function of (payload, n, copy) that sends `n` messages; returns its start and the return of the last call, in
nanoseconds. Without `copy` the library borrows the payload, which must not change until all messages have arrived."""

Pull = Callable[[Bytes, int, bool], int]
"""A function of (inbox, n, copy) that receives `n` messages of the inbox's length; returns the arrival of the last, in
nanoseconds. Every message is copied to the inbox, or without `copy` only the last."""


def push(socket: zmq.Socket[Any]) -> Push:
    """The sending half of a flood, over a connected PUSH socket."""
    types = (*(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long, ctypes.c_int), *[ctypes.c_void_p] * 2)
    call = function(_load("zmq_push_pull"), "zmq_push", *types)

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
    call = function(_load("zmq_push_pull"), "zmq_pull", *types)

    def drain(inbox: Bytes, n: int, copy: bool) -> int:
        ended = ctypes.c_int64()
        _check(call(socket.underlying, address(inbox), len(inbox), n, copy, ctypes.byref(ended)))
        return ended.value

    return drain


def pingpong(socket: zmq.Socket[Any], first: bool) -> Exchange:
    """Round trips over connected sockets, REQ and REP or two PAIRs; the end that is `first` sends first."""
    ends = ctypes.c_void_p(socket.underlying), ctypes.c_int(first)
    return exchange(_load("zmq_pingpong"), "zmq_pingpong", ends, _failure)


def _load(name: str) -> ctypes.CDLL:
    """The library, bound to the libzmq that pyzmq has loaded."""
    mapped = re.findall(r"/\S*libzmq\S*\.so\S*", Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace"))
    # First the one in pyzmq's wheel: another build of libzmq may be loaded too.
    wheels = Path(zmq.__file__).parents[1]
    mapped.sort(key=lambda path: not Path(path).is_relative_to(wheels))
    if not mapped:
        raise loader.UnavailableError(
            "this pyzmq has libzmq built into itself, where no other library finds it; install a pyzmq that links to a "
            "libzmq of its own, as its wheels for Linux do"
        )
    ctypes.CDLL(mapped[0], mode=ctypes.RTLD_GLOBAL)
    return loader.load(name)


def _check(error: int) -> None:
    if error:
        raise _failure(error)


def _failure(error: int) -> OSError:
    return OSError(error, f"ZeroMQ in C failed: {zmq.strerror(error) or os.strerror(error)}")
