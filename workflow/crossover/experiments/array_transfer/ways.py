"""The ways in which an array becomes a ZeroMQ message, and a new array is made of what arrives: the arms."""

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgpack
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crossover.measure.messages.sockets import Socket

Array = NDArray[Any]


@dataclass(frozen=True)
class Way:
    """One way. `pack` makes the frames of an array, and `unpack` an array of the received frames."""

    pack: Callable[[Array], Sequence[Any]]
    unpack: Callable[[Sequence[Any]], Array]
    copy: bool = True
    """The argument of pyzmq's calls."""

    def sending(self, socket: Socket) -> Callable[[Array], Any]:
        """A function that sends an array."""
        # A message without copy is lent whatever its size.
        socket.copy_threshold = 0
        pack, send = self.pack, partial(socket.send_multipart, copy=self.copy)
        return lambda array: send(pack(array))

    def receiving(self, socket: Socket) -> Callable[[], Array]:
        """A function that receives an array."""
        unpack, receive = self.unpack, partial(socket.recv_multipart, copy=self.copy)
        return lambda: unpack(receive())


@dataclass(frozen=True)
class OneFrame(Way):
    """A way with messages of one frame, which `pack` returns and `unpack` takes."""

    pack: Callable[[Array], Any]
    unpack: Callable[[Any], Array]

    def sending(self, socket: Socket) -> Callable[[Array], Any]:
        """A function that sends an array."""
        pack, send = self.pack, socket.send
        return lambda array: send(pack(array))

    def receiving(self, socket: Socket) -> Callable[[], Array]:
        """A function that receives an array."""
        unpack, receive = self.unpack, socket.recv
        return lambda: unpack(receive())


def _out_of_band(array: Array) -> list[Any]:
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(array, protocol=5, buffer_callback=buffers.append)
    return [pickled, *(buffer.raw() for buffer in buffers)]


def _from_out_of_band(frames: Sequence[Any]) -> Array:
    found: Array = pickle.loads(frames[0], buffers=frames[1:])
    return found


def _header_and_buffer(array: Array) -> list[Any]:
    return [msgpack.packb((array.dtype.str, array.shape)), array.data]


def _from_header_and_buffer(frames: Sequence[Any]) -> Array:
    header, buffer = frames
    dtype, shape = msgpack.unpackb(header)
    return np.frombuffer(buffer, dtype).reshape(shape)


def _msgpack(array: Array) -> bytes:
    packed: bytes = msgpack.packb((array.dtype.str, array.shape, array.data))
    return packed


def _from_msgpack(frame: bytes) -> Array:
    dtype, shape, buffer = msgpack.unpackb(frame)
    return np.frombuffer(buffer, dtype).reshape(shape)


def _arrow(array: Array) -> Any:
    sink = pa.BufferOutputStream()
    pa.ipc.write_tensor(pa.Tensor.from_numpy(array), sink)
    return sink.getvalue()


def _from_arrow(frame: bytes) -> Array:
    found: Array = pa.ipc.read_tensor(pa.BufferReader(frame)).to_numpy()
    return found


WAYS: dict[str, Way] = {
    "pickle in band": OneFrame(partial(pickle.dumps, protocol=5), pickle.loads),
    "pickle out of band": Way(_out_of_band, _from_out_of_band),
    "out of band no-copy": Way(_out_of_band, _from_out_of_band, copy=False),
    "msgpack in band": OneFrame(_msgpack, _from_msgpack),
    "header and buffer": Way(_header_and_buffer, _from_header_and_buffer),
    "Arrow IPC": OneFrame(_arrow, _from_arrow),
    "pickle 4 in band": OneFrame(partial(pickle.dumps, protocol=4), pickle.loads),
}
"""The way of each arm."""
