"""An array to another rank and back: within one ZeroMQ message, or as a frame of its own."""

from dataclasses import dataclass, replace
from typing import Annotated

from crossover.design import advice, settings, zeromq
from crossover.design.cell import Axis, Metric
from crossover.design.experiment import Experiment
from crossover.design.protocol import label

METRICS = (Metric("round trip", "s", "lower"),)
OBJECT = "float64 array"
ARMS = (
    *("pickle in band", "pickle out of band", "out of band no-copy"),
    *("msgpack in band", "header and buffer", "Arrow IPC", "pickle 4 in band"),
)
CURVES = [{**keys, "object": OBJECT} for keys in zeromq.connections(["REQ/REP"]) if keys["transport"] != "inproc"]
EVERY_CURVE = tuple(label(keys) for keys in CURVES)

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
        settings.Points, "The axis, sizes of the array in bytes, rounded up to whole elements of 8 bytes."
    ]
    arms: Annotated[
        settings.Arms,
        settings.OneOf(ARMS),
        "How an array becomes a message. `in band` puts it into one frame with its type and shape: `pickle` by "
        "protocol 5, `pickle 4` by the protocol before it, `msgpack` as raw bytes. `pickle out of band` sends the "
        "buffer as a second frame, `out of band no-copy` lends both frames to the library. `header and buffer` "
        "sends type and shape by msgpack, then the buffer. `Arrow IPC` writes a tensor into one frame.",
    ]
    reference: Annotated[str, settings.OneOf(of="arms"), settings.REFERENCE] = "pickle in band"
    curves: Annotated[
        settings.Some,
        settings.Curves.labelled(CURVES),
        "The sockets and the transport. Across hosts, ipc curves use tcp instead.",
    ]
    ceilings: Annotated[
        settings.Names,
        settings.OneOf(("C",)),
        "Upper bounds for the arms, measured beside them. `C` exchanges as many bytes in C on the same library, "
        "with a copy and without type and shape. It needs a C compiler; with `[]` nothing is built.",
    ] = ("C",)


QUICK = Settings(
    sizes_bytes=settings.decades(100, 10_000_000, 1),
    arms=ARMS[:-1],
    curves=("REQ/REP over ipc, float64 array",),
    launches=5,
    block_seconds=0.01,
    rounds=settings.Rounds(at_most=200),
    target_width=0.02,
    fewest_rounds=2,
    budget_seconds=4,
    refine_metric="round trip",
)
STANDARD = replace(
    QUICK,
    sizes_bytes=settings.decades(100, 10_000_000, 2),
    arms=ARMS,
    curves=EVERY_CURVE,
    target_width=0.01,
    budget_seconds=20,
    **settings.AT_STANDARD,
)
PAPER = replace(
    STANDARD,
    sizes_bytes=settings.decades(100, 10_000_000, 3),
    target_width=0.005,
    budget_seconds=100,
    **settings.AT_PAPER,
)
SMOKE = replace(QUICK, sizes_bytes=(100, 10_000, 1_000_000), launches=1, budget_seconds=2)

EXPERIMENT = Experiment(
    title="ZeroMQ: arrays",
    about="A NumPy array goes to another process and back over ZeroMQ, within one frame or as a frame of its own.",
    subject="Arrays over ZeroMQ",
    action="send arrays over ZeroMQ",
    library="ZeroMQ",
    place=45,
    asked=50,
    axis=Axis("array size", "bytes"),
    metrics=METRICS,
    diagnostic=("pickle 4 in band",),
    keys={"pattern": ["REQ/REP"], "transport": ["tcp", "ipc"], "object": [OBJECT]},
    packages=("msgpack", "pyarrow"),
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
        ),
    ),
)
