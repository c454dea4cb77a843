"""Channels for commands between the two ends of an experiment, whose waits use no processor time."""

from typing import Any

import zmq

from crossover.measure.ranks.network import LOOPBACK


class Channel:
    """One end of a channel for small Python objects: a PAIR `socket`, which closes with its context."""

    def __init__(self, context: zmq.Context[Any], address: str = LOOPBACK):
        """Neither bound nor connected yet; `address` is that on which this end can listen."""
        self.socket: zmq.Socket[bytes] = context.socket(zmq.PAIR)
        self.socket.linger = 0
        self.address = address

    def send(self, value: Any) -> None:
        """Send one object."""
        self.socket.send_pyobj(value)

    def receive(self) -> Any:
        """Wait for one object."""
        return self.socket.recv_pyobj()


def within(context: zmq.Context[Any]) -> tuple[Channel, Channel]:
    """Both ends of a channel between two threads of this process."""
    ours, theirs = Channel(context), Channel(context)
    address = f"inproc://{id(ours)}"
    ours.socket.bind(address)
    theirs.socket.connect(address)
    return ours, theirs
