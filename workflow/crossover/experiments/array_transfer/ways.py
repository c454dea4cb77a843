"""The ways in which an object becomes a ZeroMQ message, and a new one is made of what arrives: the arms."""

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgpack
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crossover.experiments.array_transfer import ARRAY, FRAME, TABLE
from crossover.measure.messages.pickling import from_out_of_band, out_of_band
from crossover.measure.messages.sockets import Socket

Array = NDArray[Any]


@dataclass(frozen=True)
class Way:
    """One way. `pack` makes the frames of an object, and `unpack` an object of the received frames."""

    pack: Callable[[Any], Sequence[Any]]
    unpack: Callable[[Sequence[Any]], Any]
    copy: bool = True
    """The argument of pyzmq's calls."""

    def sending(self, socket: Socket) -> Callable[[Any], Any]:
        """A function that sends an object."""
        # A message without copy is lent whatever its size.
        socket.copy_threshold = 0
        pack, send = self.pack, partial(socket.send_multipart, copy=self.copy)
        return lambda sent: send(pack(sent))

    def receiving(self, socket: Socket) -> Callable[[], Any]:
        """A function that receives an object."""
        unpack, receive = self.unpack, partial(socket.recv_multipart, copy=self.copy)
        return lambda: unpack(receive())


@dataclass(frozen=True)
class OneFrame(Way):
    """A way with messages of one frame, which `pack` returns and `unpack` takes."""

    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]

    def sending(self, socket: Socket) -> Callable[[Any], Any]:
        """A function that sends an object."""
        pack, send = self.pack, socket.send
        return lambda sent: send(pack(sent))

    def receiving(self, socket: Socket) -> Callable[[], Any]:
        """A function that receives an object."""
        unpack, receive = self.unpack, socket.recv
        return lambda: unpack(receive())


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


def _arrow_stream(table: Any) -> Any:
    sink = pa.BufferOutputStream()
    batch = pa.RecordBatch.from_pandas(table)
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return sink.getvalue()


def _from_arrow_stream(frame: bytes) -> Any:
    return pa.ipc.open_stream(frame).read_pandas()


WAYS: dict[str, Way] = {
    "pickle in band": OneFrame(partial(pickle.dumps, protocol=5), pickle.loads),
    "pickle out of band": Way(out_of_band, from_out_of_band),
    "out of band no-copy": Way(out_of_band, from_out_of_band, copy=False),
    "msgpack in band": OneFrame(_msgpack, _from_msgpack),
    "header and buffer": Way(_header_and_buffer, _from_header_and_buffer),
    "Arrow IPC": OneFrame(_arrow, _from_arrow),
    "pickle 4 in band": OneFrame(partial(pickle.dumps, protocol=4), pickle.loads),
}
"""The way of each arm."""

ARROW_OF_TABLE = OneFrame(_arrow_stream, _from_arrow_stream)
CEILING = "C"
OF_ARRAYS = (ARRAY, FRAME)
OBJECTS = {
    "msgpack in band": OF_ARRAYS,
    "header and buffer": OF_ARRAYS,
    "Arrow IPC": (*OF_ARRAYS, TABLE),
    CEILING: OF_ARRAYS,
}
"""The objects that these arms and ceilings can send; all others can send any."""


def way(arm: str, kind: str) -> Way:
    """The way of an arm for a kind of object, one of OBJECTS of the declaration."""
    return ARROW_OF_TABLE if (arm, kind) == ("Arrow IPC", TABLE) else WAYS[arm]
