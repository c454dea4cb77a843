"""Ports for servers that have to be told theirs."""

from __future__ import annotations

import socket


class Reserved:
    """So many free ports of an address, for as long as this object lives: the kernel gives them to nobody who asks for
    any free one.

    A server that is told such a number can bind it all the same, if like nearly all servers it sets SO_REUSEADDR: on
    Linux that shares a port with a socket which sets it too and does not listen.
    """

    def __init__(self, count: int, address: str):
        self._held = [_held(address) for _ in range(count)]
        self.numbers: list[int] = [held.getsockname()[1] for held in self._held]


def _held(address: str) -> socket.socket:
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind((address, 0))
    return held
