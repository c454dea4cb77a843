"""Round trips of x bytes between REQ and REP. The sockets are files in the launch's own folder."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import pynng
import zmq
from crossover.experiments.nng_latency import Settings

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import DAMAGED, Block


def cells(settings: Settings) -> list[Cell]:
    """One cell per message size."""
    return [Cell({"pattern": "REQ/REP", "transport": "ipc"}, size) for size in settings.sizes_bytes]


class Client:
    """Rank 0, with a connected socket of each library."""

    def __init__(self, peers: Peers):
        self.channel = peers.channel(to=1)
        folder = self.channel.receive()
        self.sockets: dict[str, Any] = {"pyzmq": zmq.Context.instance().socket(zmq.REQ), "pynng": pynng.Req0()}
        self.sockets["pyzmq"].connect(f"ipc://{folder}/pyzmq")
        self.sockets["pynng"].dial(f"ipc://{folder}/pynng")

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Make `n` round trips."""
        payload, own = os.urandom(cell.x), self.sockets[arm.runs]
        self.channel.send((arm.runs, n))
        began = perf_counter()
        for _ in range(n):
            own.send(payload)
            received = own.recv()
        seconds = perf_counter() - began
        return Block(seconds, {"round trip": seconds / n}) if received == payload else Block(seconds, fault=DAMAGED)


@contextmanager
def drive(peers: Peers, settings: Settings) -> Iterator[Client]:
    """Connect, and stop the other rank at the end."""
    client = Client(peers)
    yield client
    client.channel.send(None)


def serve(peers: Peers, settings: Settings) -> None:
    """Answer the requests of each block with themselves."""
    channel, folder = peers.channel(to=0), tempfile.gettempdir()
    sockets: dict[str, Any] = {"pyzmq": zmq.Context.instance().socket(zmq.REP), "pynng": pynng.Rep0()}
    sockets["pyzmq"].bind(f"ipc://{folder}/pyzmq")
    sockets["pynng"].listen(f"ipc://{folder}/pynng")
    channel.send(folder)
    while command := channel.receive():
        name, n = command
        for _ in range(n):
            sockets[name].send(sockets[name].recv())
