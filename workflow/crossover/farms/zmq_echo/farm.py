"""The ceiling of every farm on ZeroMQ: a ROUTER that sends pickled tasks to each engine's DEALER in turn.

It has no scheduler, no signatures and no metadata, only the pickle and the round trip.
"""

import pickle
from collections.abc import Sequence
from itertools import cycle
from typing import Any

import zmq

from crossover.measure.farms import Farm, Task
from crossover.measure.ranks.channel import Admission, connect
from crossover.measure.ranks.peers import Peers

STOP = b""


class Client(Farm):
    """The ROUTER; engines get tasks in turn, whether they are idle or not."""

    def start(self) -> None:
        """Listen on a free port."""
        self._context = zmq.Context()
        self._socket = _unbounded(self._context, zmq.ROUTER)
        # Pickles from strangers must not be loaded.
        self._admission = Admission(self._context)
        self._admission.guard(self._socket)
        self._socket.bind(f"tcp://{self.peers.address}:*")
        self._tasks = 0

    def invitation(self) -> tuple[str, str]:
        """The address, and the password for it."""
        return self._socket.getsockopt_string(zmq.LAST_ENDPOINT), self._admission.password

    def join(self) -> None:
        """Wait for every engine's first message. Raises Refusal (DISTURBED) if one does not come."""
        self._engines = [self._admission.await_word(self._socket)[0] for _ in self.ranks]
        self._admission.close()

    def submit(self, task: Task, arguments: Sequence[Any]) -> None:
        """Pickle and send; arrays are sent beside the pickle, uncopied."""
        send = self._socket.send_multipart
        self._tasks = 0
        for engine, argument in zip(cycle(self._engines), arguments, strict=False):
            send([engine, self._tasks.to_bytes(8, "big"), *_frames((task, argument))], copy=False)
            self._tasks += 1

    def wait(self) -> list[Any]:
        """Receive one result per task, and put them in order."""
        results: dict[int, Any] = {}
        while len(results) < self._tasks:
            _, number, *value = self._socket.recv_multipart(copy=False)
            results[int.from_bytes(number.buffer, "big")] = _value(value)
        return [results[number] for number in sorted(results)]

    def stop(self) -> None:
        """Stop the engines, and release the port."""
        for engine in self._engines:
            self._socket.send_multipart([engine, STOP])
        self._socket.linger = -1
        self._context.destroy()


def serve(peers: Peers, invitation: tuple[str, str]) -> None:
    """Run tasks as they arrive, until stopped."""
    with zmq.Context() as context, _unbounded(context, zmq.DEALER) as socket:
        connect(socket, *invitation)
        socket.send(b"connected")
        while True:
            number, *frames = socket.recv_multipart(copy=False)
            if not frames:
                return
            task, argument = _value(frames)
            socket.send_multipart([number, *_frames(task(argument))], copy=False)


def _unbounded(context: zmq.Context[Any], kind: int) -> zmq.Socket[bytes]:
    socket: zmq.Socket[bytes] = context.socket(kind)
    socket.set_hwm(0)
    return socket


def _frames(value: Any) -> list[Any]:
    """A pickle, and its out-of-band buffers."""
    buffers: list[pickle.PickleBuffer] = []
    return [pickle.dumps(value, protocol=5, buffer_callback=buffers.append), *buffers]


def _value(frames: Sequence[zmq.Frame]) -> Any:
    return pickle.loads(frames[0].buffer, buffers=[frame.buffer for frame in frames[1:]])
