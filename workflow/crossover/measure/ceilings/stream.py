"""A raw stream socket in C, TCP or Unix: the cost of the kernel alone."""

from __future__ import annotations

import ctypes
import os
import socket
from collections.abc import Callable

from crossover.measure.build import loader
from crossover.measure.ceilings import Bytes, Exchange, address, function

LIBRARY = "stream_pingpong"

Address = tuple[str, int] | bytes


def listen(kind: str, host: str) -> socket.socket:
    """A socket that listens for the other rank: `TCP` on a free port of `host`, or `Unix`, without a file."""
    if kind == "TCP":
        return socket.create_server((host, 0))
    listening = socket.socket(socket.AF_UNIX)
    # An abstract name disappears with its socket.
    listening.bind(b"\0crossover-%d-" % os.getpid() + os.urandom(6).hex().encode())
    listening.listen(1)
    return listening


def connect(to: Address) -> socket.socket:
    """A connection to the socket of that address."""
    connecting = socket.socket(socket.AF_UNIX if isinstance(to, bytes) else socket.AF_INET)
    connecting.connect(to)
    return connecting


def pingpong(stream: socket.socket, first: bool) -> Exchange:
    """Round trips over a connected socket, which must stay open; the end that is `first` sends first."""
    play = _library()
    stream.setblocking(True)
    if stream.family == socket.AF_INET:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def exchange(outbox: Bytes, inbox: Bytes, n: int) -> float:
        ns = ctypes.c_int64()
        error = play(stream.fileno(), first, address(outbox), address(inbox), len(outbox), n, ctypes.byref(ns))
        if error:
            raise OSError(error, f"the raw socket failed: {os.strerror(error)}")
        return ns.value / 1e9

    return exchange


def _library() -> Callable[..., int]:
    types = (
        *(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long),
        ctypes.c_void_p,
    )
    return function(loader.load(LIBRARY), "stream_pingpong", *types)
