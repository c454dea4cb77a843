"""Channels for commands between the two ends of an experiment, whose waits use no processor time."""

from typing import Any

import zmq

from crossover.measure.ranks.network import LOOPBACK


class Channel:
    """Sends and receives small Python objects over a PAIR socket; closes with the socket's context."""

    def __init__(self, socket: zmq.Socket[bytes], address: str = LOOPBACK):
        self._socket = socket
        self.address = address
        """The address on which this end can listen."""

    def send(self, value: Any) -> None:
        """Send one object."""
        self._socket.send_pyobj(value)

    def receive(self) -> Any:
        """Wait for one object."""
        return self._socket.recv_pyobj()


def end(context: zmq.Context[Any]) -> zmq.Socket[bytes]:
    """One end of a channel, neither bound nor connected yet."""
    socket: zmq.Socket[bytes] = context.socket(zmq.PAIR)
    socket.linger = 0
    return socket


def within(context: zmq.Context[Any]) -> tuple[Channel, Channel]:
    """Both ends of a channel between two threads of this process."""
    ours, theirs = end(context), end(context)
    address = f"inproc://{id(ours)}"
    ours.bind(address)
    theirs.connect(address)
    return Channel(ours), Channel(theirs)
