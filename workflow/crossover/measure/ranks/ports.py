"""Ports for servers that need a number at start."""

from __future__ import annotations

import socket


class Reserved:
    """`count` free ports of an address, reserved while this object lives: the kernel gives them to no process that asks
    for any free port.

    A server that is given such a number can still bind it, if it sets SO_REUSEADDR, as nearly all servers do: on Linux,
    it then shares the port with a socket that sets SO_REUSEADDR too and does not listen.
    """

    def __init__(self, count: int, address: str):
        self._held = [_held(address) for _ in range(count)]
        self.numbers: list[int] = [held.getsockname()[1] for held in self._held]


def _held(address: str) -> socket.socket:
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind((address, 0))
    return held
