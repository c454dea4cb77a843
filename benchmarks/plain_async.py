"""Round trips over REQ and REP by ipc, with the coroutines of pyzmq's manual at both ends.

It follows the page "asyncio" of pyzmq's API (pyzmq.readthedocs.io/en/latest/api/zmq.asyncio.html): a socket of
`zmq.asyncio.Context`, `await socket.send` and `await socket.recv`. Takes sizes in bytes. Prints seconds per round trip
by size, the median over repeats. The child sends back the message that it received; an empty message ends it.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import statistics
import sys
from time import perf_counter

import zmq
import zmq.asyncio

REPEATS = 20
REPEAT_SECONDS = 0.05


async def answer(address: str) -> None:
    """The child's coroutine."""
    socket = zmq.asyncio.Context().socket(zmq.REP)
    socket.connect(address)
    while message := await socket.recv():
        await socket.send(message)


def child(address: str) -> None:
    """The child."""
    asyncio.run(answer(address))


async def ask(address: str, sizes: list[int]) -> dict[int, float]:
    """The parent's coroutine: measure every size."""
    socket = zmq.asyncio.Context().socket(zmq.REQ)
    socket.bind(address)

    async def seconds(payload: bytes, count: int) -> float:
        began = perf_counter()
        for _ in range(count):
            await socket.send(payload)
            await socket.recv()
        return (perf_counter() - began) / count

    found = {}
    for size in sizes:
        payload = os.urandom(size)
        await seconds(payload, 1)
        count = max(1, int(REPEAT_SECONDS / await seconds(payload, 50)))
        found[size] = statistics.median([await seconds(payload, count) for _ in range(REPEATS)])
    await socket.send(b"")
    return found


def main(*sizes: str) -> None:
    """Start the child, and measure."""
    address = f"ipc://@plain-{os.getpid()}"
    multiprocessing.get_context("spawn").Process(target=child, args=(address,)).start()
    print(json.dumps(asyncio.run(ask(address, [*map(int, sizes)]))))


if __name__ == "__main__":
    main(*sys.argv[1:])
