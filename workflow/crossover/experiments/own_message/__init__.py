"""A user's own object, sent to another process in every way that carries it."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from crossover.design import settings
from crossover.design.cell import Axis, Metric
from crossover.design.config import OfUser
from crossover.design.experiments import Experiment

METRICS = (Metric("round trip", "s", "lower"), Metric("throughput", "messages/s", "higher"))
PATTERNS = ("round trips", "stream")
TO_CHILD = ("Pipe send", "Queue", "shared memory")
"""The arms between a process and its child, within one host."""
# In charts, those that other experiments have too keep their colours by their places.
ARMS = (
    *("ZeroMQ pickle", "mpi4py Send", "mpi4py send", "Queue", "shared memory", "Arrow IPC", "ZeroMQ out of band"),
    *("Pipe send", "ZeroMQ out of band no-copy", "mpi4py pkl5 send", "msgpack", "JSON"),
)

TO_RANK = tuple(arm for arm in ARMS if arm not in TO_CHILD)

_CONNECTED = """\
import zmq

socket = zmq.Context.instance().socket(zmq.PAIR)
socket.connect("ipc://other")  # at the other end: socket.bind
"""
_OUT_OF_BAND = f"""\
import pickle

{_CONNECTED}
buffers = []
pickled = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
socket.send_multipart([pickled, *buffers], copy={{copy}})
pickled, *buffers = socket.recv_multipart(copy={{copy}})
received = pickle.loads(pickled, buffers=buffers)
"""
_COMM = "from mpi4py import MPI\n\ncomm = MPI.COMM_WORLD\n"
SNIPPETS = {
    "Pipe send": """\
from multiprocessing import Pipe

ours, theirs = Pipe()
ours.send(value)
received = theirs.recv()
""",
    "Queue": """\
from multiprocessing import Queue

queue = Queue()
queue.put(value)
received = queue.get()
""",
    "ZeroMQ pickle": f"{_CONNECTED}socket.send_pyobj(value, protocol=5)\nreceived = socket.recv_pyobj()\n",
    "ZeroMQ out of band": _OUT_OF_BAND.format(copy=True),
    "ZeroMQ out of band no-copy": _OUT_OF_BAND.format(copy=False),
    "mpi4py send": f"{_COMM}comm.send(value, dest)\nreceived = comm.recv(source=source)\n",
    "mpi4py pkl5 send": (
        "from mpi4py import MPI\nfrom mpi4py.util import pkl5\n\ncomm = pkl5.Intracomm(MPI.COMM_WORLD)\n"
        "comm.send(value, dest)\nreceived = comm.recv(source=source)\n"
    ),
    "mpi4py Send": (
        f"{_COMM}comm.Send(value.reshape(-1).view('u1'), dest)\n"
        "comm.Recv(received.reshape(-1).view('u1'), source)  # an array of the same shape and type\n"
    ),
    "msgpack": (
        f"import msgpack\n{_CONNECTED}socket.send(msgpack.packb(value))\nreceived = msgpack.unpackb(socket.recv())\n"
    ),
    "JSON": f"{_CONNECTED}socket.send_json(value)\nreceived = socket.recv_json()\n",
}
"""The lines that send an object `value`, and that receive it at the other end."""


@dataclass(frozen=True, kw_only=True)
class Settings(OfUser):
    """Its settings."""

    needs: ClassVar = {"message": "message(count), which returns an object to send"}

    counts: Annotated[
        settings.Points,
        "The axis, what `message` is called with. Counts are left out whose objects are too large or too slow.",
    ]
    patterns: Annotated[
        settings.Some,
        settings.Curves.valued("pattern", PATTERNS),
        "`round trips`: the other end sends an object of its own back. `stream`: it takes one after another, and "
        "confirms the last.",
    ] = PATTERNS
    bindings: settings.Bindings = ("own",)
    arms: Annotated[
        settings.Arms,
        settings.OneOf(ARMS),
        "The ways; one that cannot carry the object is a hole with the reason. `Pipe send` and `Queue` are those of "
        "`multiprocessing`; `shared memory` copies the pickle and its buffers into a `SharedMemory` block and out of "
        "it. `ZeroMQ pickle` is `send_pyobj`; `out of band` sends the buffers of pickle's protocol 5 as frames, with "
        "`no-copy` lent to the library. `mpi4py send` pickles, `mpi4py pkl5 send` leaves buffers out of the pickle, "
        "and `mpi4py Send` sends the memory of a contiguous NumPy array. `Arrow IPC` (tables of pandas, polars and "
        "pyarrow), `msgpack` and `JSON` (plain data) go over ZeroMQ.",
    ] = ARMS
    reference: Annotated[str, settings.OneOf(of="arms"), settings.REFERENCE] = "ZeroMQ pickle"
    placements: Annotated[settings.Some, settings.OneOf(("node", "nodes")), settings.WHERE] = ("node",)


QUICK = Settings(
    counts=(1, 10, 1_000, 10_000),
    launches=4,
    fewest_rounds=2,
    block_seconds=0.01,
    rounds=settings.Rounds(at_most=200),
    target_width=0.05,
    budget_seconds=8,
)
# Ends that wait in MPI spin, so on one core each would wait for the other's share of time.
LONGER = settings.Tiers.of(replace(QUICK, bindings=("own", "free")))

EXPERIMENT = Experiment(
    title="Your object",
    about="An object of yours goes to another process and back, or one after another, in every way that carries it.",
    subject="Your object",
    action="send your object",
    library="Between processes",
    place=59,
    default="Queue",
    synonyms={"my object": "your object"},
    axis=Axis("count", "items"),
    metrics=METRICS,
    snippets=SNIPPETS,
    chosen_by={"round trip": "round trips", "throughput": "stream"},
    keys={"pattern": [*PATTERNS], "binding": [*settings.BINDINGS]},
    packages=("msgpack", "pandas", "pyarrow"),
    tiers=replace(LONGER, smoke=replace(QUICK, launches=1, budget_seconds=1), quick=QUICK),
)
