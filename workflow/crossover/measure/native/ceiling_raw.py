"""Ceilings without a library for messages: memcpy, and a raw stream socket, TCP or Unix."""

import ctypes
import os
import secrets
import socket
import time
from contextlib import suppress

from crossover.measure.native import loader
from crossover.measure.native.ceiling import Exchange, exchange

WORD_SECONDS = 1
"""The time within which a connected end must send its secret."""


def memcpy() -> Exchange:
    """Round trips within this process, a lower bound for every message that is copied: one copy each way, both from the
    outbox to the inbox."""
    copy = exchange(loader.load("memory_copy"), "memory_copy", (), RuntimeError, result=None)
    return lambda outbox, inbox, n: copy(outbox, inbox, 2 * n)


def listen(kind: str, host: str) -> socket.socket:
    """A socket that listens for the other rank: `TCP` on a free port of `host`, or `Unix`, without a file."""
    if kind == "TCP":
        return socket.create_server((host, 0))
    listening = socket.socket(socket.AF_UNIX)
    # An abstract name disappears with its socket.
    listening.bind(b"\0crossover-%d-" % os.getpid() + os.urandom(6).hex().encode())
    listening.listen()
    return listening


def accept(listening: socket.socket, secret: bytes, wait_seconds: float) -> socket.socket | None:
    """The connection of the end that knows the secret; None if it does not come. Strangers are disconnected."""
    deadline = time.monotonic() + wait_seconds
    while (left := deadline - time.monotonic()) > 0:
        listening.settimeout(left)
        try:
            connection = listening.accept()[0]
        except TimeoutError:
            break
        connection.settimeout(min(left, WORD_SECONDS))
        with suppress(OSError):
            if secrets.compare_digest(connection.recv(len(secret), socket.MSG_WAITALL), secret):
                return connection
        connection.close()
    return None


def connect(to: tuple[str, int] | bytes, secret: bytes) -> socket.socket:
    """A connection to the socket of that address, which waits for the secret."""
    connecting = socket.socket(socket.AF_UNIX if isinstance(to, bytes) else socket.AF_INET)
    connecting.connect(to)
    connecting.sendall(secret)
    return connecting


def pingpong(stream: socket.socket, first: bool) -> Exchange:
    """Round trips over a connected socket, which must stay open; the end that is `first` sends first. They cost what
    the kernel alone costs."""
    library = loader.load("stream_pingpong")
    stream.setblocking(True)
    if stream.family == socket.AF_INET:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    ends = ctypes.c_int(stream.fileno()), ctypes.c_int(first)
    return exchange(
        library, "stream_pingpong", ends, lambda code: OSError(code, f"the raw socket failed: {os.strerror(code)}")
    )
