"""An object to another rank and back: within one ZeroMQ message, or with frames of its own for its buffers."""

from dataclasses import dataclass, replace
from typing import Annotated, Self

from crossover.design import advice, settings, zeromq
from crossover.design.cell import Axis, Metric
from crossover.design.experiments import Experiment
from crossover.design.protocol import label

METRICS = (Metric("round trip", "s", "lower"),)
ARRAY, FRAME, TABLE, ARRAYS = "float64 array", "uint8 frame", "DataFrame", "dict of arrays"
OBJECTS = (ARRAY, TABLE, ARRAYS, FRAME)
ARMS = (
    *("pickle in band", "pickle out of band", "out of band no-copy"),
    *("msgpack in band", "header and buffer", "Arrow IPC", "pickle 4 in band"),
)
CURVES = [
    {**keys, "object": name}
    for name in OBJECTS
    for keys in zeromq.connections(["REQ/REP"])
    if keys["transport"] != "inproc"
]
DEFAULT_CURVES = tuple(label(keys) for keys in CURVES if keys["object"] == ARRAY or keys["transport"] == "ipc")

FRAMES = {
    "out of band no-copy": """\
import pickle

socket.copy_threshold = 0


def send(array):
    if array.nbytes < {value}:
        socket.send(pickle.dumps(array, protocol=5))
    else:
        buffers = []
        pickled = pickle.dumps(array, protocol=5, buffer_callback=buffers.append)
        socket.send_multipart([pickled, *buffers], copy=False)


def receive():
    pickled, *buffers = socket.recv_multipart(copy=False)
    return pickle.loads(pickled, buffers=buffers)
""",
    "header and buffer": """\
import pickle

import msgpack
import numpy as np


def send(array):
    if array.nbytes < {value}:
        socket.send(pickle.dumps(array, protocol=5))
    else:
        socket.send_multipart([msgpack.packb((array.dtype.str, array.shape)), array.data])


def receive():
    header, *buffers = socket.recv_multipart()
    if not buffers:
        return pickle.loads(header)
    dtype, shape = msgpack.unpackb(header)
    return np.frombuffer(buffers[0], dtype).reshape(shape)
""",
}


@dataclass(frozen=True, kw_only=True)
class Settings(zeromq.Connected):
    """Its settings."""

    sizes_bytes: Annotated[
        settings.Points, "The axis, sizes of the float64 array in bytes, rounded up to whole elements of 8 bytes."
    ]
    container_sizes_bytes: Annotated[
        settings.Points,
        "The axis of the DataFrame and of the dict of arrays, in bytes of their values in memory, rounded up to whole "
        "rows of 80 bytes. A row of the DataFrame has numbers and a short string, one of the dict an element of each "
        "array. The uint8 frame has one size, that of a picture of a camera.",
    ]
    arms: Annotated[
        settings.Arms,
        settings.OneOf(ARMS),
        "How an object becomes a message. `in band` puts all of it into one frame: `pickle` by protocol 5, `pickle 4` "
        "by the protocol before it, `msgpack` as type, shape and raw bytes. `pickle out of band` sends each buffer as "
        "a frame of its own, `out of band no-copy` lends all frames to the library. `header and buffer` sends type and "
        "shape by msgpack, then the buffer. `Arrow IPC` writes into one frame: an array as a tensor, a DataFrame as a "
        "stream of record batches. `msgpack` and `header and buffer` are for arrays alone; a dict has no `Arrow IPC`.",
    ]
    reference: Annotated[str, settings.OneOf(of="arms"), settings.REFERENCE] = "pickle in band"
    curves: Annotated[
        settings.Some,
        settings.Curves.labelled(CURVES),
        "The sockets, the transport and the object. Across hosts, ipc curves use tcp instead.",
    ]
    ceilings: Annotated[
        settings.Names,
        settings.OneOf(("C",)),
        "Upper bounds for the arms, measured beside them. `C` exchanges as many bytes in C on the same library, "
        "with a copy and without type and shape, for arrays alone. It needs a C compiler; with `[]` nothing is built.",
    ] = ("C",)

    def only(self, point: int) -> Self:
        """The settings with only this point of the axis, for containers too."""
        return replace(super().only(point), container_sizes_bytes=(point,))


QUICK = Settings(
    sizes_bytes=settings.decades(100, 10_000_000, 1),
    container_sizes_bytes=(1_000_000,),
    arms=ARMS[:-1],
    curves=("REQ/REP over ipc, float64 array", "REQ/REP over ipc, DataFrame"),
    launches=4,
    block_seconds=0.01,
    rounds=settings.Rounds(at_most=200),
    target_width=0.02,
    fewest_rounds=2,
    budget_seconds=4.7,
)
STANDARD = replace(
    QUICK,
    sizes_bytes=settings.decades(100, 10_000_000, 2),
    container_sizes_bytes=settings.decades(100, 10_000_000, 1),
    arms=ARMS,
    curves=DEFAULT_CURVES,
    target_width=0.01,
    budget_seconds=32,
    **settings.AT_STANDARD,
)
PAPER = replace(
    STANDARD,
    sizes_bytes=settings.decades(100, 10_000_000, 3),
    container_sizes_bytes=settings.decades(100, 10_000_000, 2),
    target_width=0.005,
    budget_seconds=170,
    **settings.AT_PAPER,
)
SMOKE = replace(
    QUICK,
    sizes_bytes=(100, 10_000, 1_000_000),
    curves=("REQ/REP over ipc, float64 array",),
    launches=1,
    budget_seconds=2,
)

EXPERIMENT = Experiment(
    title="ZeroMQ: arrays and other objects",
    about="A NumPy array, a DataFrame or a dict of arrays goes to another process and back over ZeroMQ, within one "
    "frame or with frames of its own for its buffers.",
    subject="Objects over ZeroMQ",
    action="send objects over ZeroMQ",
    library="ZeroMQ",
    place=45,
    default="pickle in band",
    axis=Axis("object size", "bytes"),
    metrics=METRICS,
    diagnostic=("pickle 4 in band",),
    keys={"pattern": ["REQ/REP"], "transport": ["tcp", "ipc"], "object": OBJECTS},
    packages=("msgpack", "pandas", "pyarrow"),
    tiers=settings.Tiers(SMOKE, QUICK, STANDARD, PAPER),
    built={"C": ["zmq_pingpong"]},
    recommends=(
        advice.Setting(
            library="pyzmq",
            name="frame of an array",
            about="how an array becomes a message, and the bytes from which that is faster than one pickle",
            default="pickle in band",
            values={"out of band no-copy": 0, "header and buffer": 0},
            snippet=FRAMES,
            beyond=FRAMES,
            # The lines ask for the bytes of an array; other objects have none to ask for.
            where={"object": ARRAY},
        ),
    ),
)
