"""Reserves ports for servers that need their numbers at start."""

from __future__ import annotations

import socket


class Reserved:
    """`count` free ports of an address, reserved while this object lives: the kernel gives them to no process that
    wants any free port.

    A server can still bind such a port by its number if it sets SO_REUSEADDR, as nearly all servers do. Linux lets it
    share the port with a socket that sets SO_REUSEADDR too and does not listen.
    """

    def __init__(self, count: int, address: str):
        self._sockets = [_bound(address) for _ in range(count)]
        self.numbers: list[int] = [bound.getsockname()[1] for bound in self._sockets]


def _bound(address: str) -> socket.socket:
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind((address, 0))
    return bound
