"""An array to another rank and back: within one ZeroMQ message, or as a frame of its own."""

from crossover.design import advice, kinds
from crossover.design.axis import Axis
from crossover.design.cell import Metric
from crossover.design.experiment import Experiment
from crossover.design.families import zeromq
from crossover.design.protocol import label

METRICS = (Metric("round trip", "s", "lower"),)
OBJECT = "float64 array"
ARMS = (
    *("pickle in band", "pickle out of band", "out of band no-copy"),
    *("msgpack in band", "header and buffer", "Arrow IPC", "pickle 4 in band"),
)
CURVES = [{**keys, "object": OBJECT} for keys in zeromq.connections(["REQ/REP"]) if keys["transport"] != "inproc"]
EVERY_CURVE = [label(keys) for keys in CURVES]

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
    settings={
        "sizes_bytes": kinds.axis(
            "The axis, sizes of the array in bytes, rounded up to whole elements of 8 bytes.",
            {
                "smoke": [100, 10_000, 1_000_000],
                "quick": kinds.decades(100, 10_000_000, 1),
                "standard": kinds.decades(100, 10_000_000, 2),
                "paper": kinds.decades(100, 10_000_000, 3),
            },
        ),
        "arms": kinds.arms(
            "How an array becomes a message. `in band` puts it into one frame with its type and shape: `pickle` by "
            "protocol 5, `pickle 4` by the protocol before it, `msgpack` as raw bytes. `pickle out of band` sends the "
            "buffer as a second frame, `out of band no-copy` lends both frames to the library. `header and buffer` "
            "sends type and shape by msgpack, then the buffer. `Arrow IPC` writes a tensor into one frame.",
            ARMS,
            {"quick": [*ARMS[:-1]], "standard": [*ARMS], "paper": [*ARMS]},
        ),
        "reference": kinds.reference(ARMS, "pickle in band"),
        "curves": kinds.curves(
            "The sockets and the transport. Across hosts, ipc curves use tcp instead.",
            CURVES,
            {"quick": ["REQ/REP over ipc, float64 array"], "standard": EVERY_CURVE, "paper": EVERY_CURVE},
        ),
        "ceilings": kinds.ceilings(
            "Upper bounds for the arms, measured beside them. `C` exchanges as many bytes in C on the same library, "
            "with a copy and without type and shape. It needs a C compiler; with `[]` nothing is built.",
            ["C"],
            ["C"],
        ),
        "placements": kinds.placements(["node", "nodes"], ["node", "nodes"]),
        **kinds.sampling(
            launches={"smoke": 1, "quick": 4, "standard": 12, "paper": 16},
            block_seconds=0.01,
            most_rounds=200,
            target_width={"quick": 0.02, "standard": 0.01, "paper": 0.005},
            budget_seconds={"smoke": 2, "quick": 6, "standard": 20, "paper": 100},
            fewest_rounds=kinds.FEW,
        ),
        **kinds.refinement(METRICS),
    },
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
