"""The settings that a run can recommend: what decides each, and the lines to paste. A new one is an entry here.

A default is what a library does where nobody sets anything. The tests hold what is said of it here, and every snippet,
against the libraries themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

Value = str | int


@dataclass(frozen=True)
class Onset:
    """A place on the axis: from there on `arm` is to be used, and `other` before."""

    arm: str
    other: str
    default: str
    """The arm that is what one has without the setting."""
    default_from: float = inf
    """Where the default changes over from `other` to `arm`."""


@dataclass(frozen=True)
class Choice:
    """One of several arms, all along the axis: the best of those that are better than the default."""

    default: str
    values: Mapping[str, Value]
    """What is set to have each of the arms, the default among them."""


@dataclass(frozen=True)
class Level:
    """A place on the axis: from there on the metric reaches `level`, for each arm by itself. There is no default."""

    level: float
    arms: tuple[str, ...]


@dataclass(frozen=True)
class Setting:
    """One setting, in every condition under which it was measured: placement and protocol."""

    library: str
    name: str
    about: str
    """What its value says, to follow the name."""
    experiment: str
    metric: str
    protocols: str
    """A regular expression at the beginning of a protocol: the curves that speak for it."""
    rule: Onset | Choice | Level
    snippet: str | Mapping[Value, str]
    """What to paste, by the value where that is more than its text; `{value}` stands for it as Python writes it."""


PYZMQ_THRESHOLD_BYTES = 65536
"""`zmq.COPY_THRESHOLD` as pyzmq is shipped."""

ARRAYS = r"float64 array, thread level"
EQUAL_TASKS = r"tasks (sleep|spin), equal durations"
BUSY = 0.95
SCHEMES = ("leastload", "pure", "lru", "weighted", "plainrandom", "twobin")

SETTINGS = (
    Setting(
        library="pyzmq",
        name="zmq.COPY_THRESHOLD",
        about="the size from which on `copy=False` lends a message instead of copying it",
        experiment="zmq_throughput",
        metric="throughput",
        protocols=r"PUSH/PULL over \w+, \d+ MB",
        rule=Onset("no-copy", other="copy", default="default", default_from=PYZMQ_THRESHOLD_BYTES),
        snippet="""\
import zmq

zmq.COPY_THRESHOLD = {value}  # bytes; for every socket that is made from here on
# or for one socket alone: socket.copy_threshold = {value}
""",
    ),
    Setting(
        library="pyzmq",
        name="copy=False",
        about="the size from which on lending a message sets its sender free sooner than copying",
        experiment="zmq_throughput",
        metric="send rate",
        protocols=r"PUSH/PULL over \w+, \d+ MB",
        rule=Onset("no-copy", other="copy", default="copy"),
        snippet="""\
socket.copy_threshold = {value}  # bytes
socket.send(message, copy=False)  # lends from that size on, copies below
""",
    ),
    Setting(
        library="mpi4py",
        name="Send",
        about="the length from which on an array is sent faster by it than by `send`",
        experiment="mpi_pingpong",
        metric="round trip",
        protocols=ARRAYS,
        rule=Onset("Send", other="send", default="send"),
        snippet="""\
def send(array, destination):
    if array.size >= {value}:
        comm.Send(array, destination)
    else:
        comm.send(array, destination)


def receive(array, source):
    if array.size >= {value}:
        comm.Recv(array, source)
    else:
        array[...] = comm.recv(source=source)
""",
    ),
    Setting(
        library="mpi4py",
        name="pkl5",
        about="the length from which on an array is sent faster by its `send` than by the plain one",
        experiment="mpi_pingpong",
        metric="round trip",
        protocols=ARRAYS,
        rule=Onset("pkl5.send", other="send", default="send"),
        snippet="""\
from mpi4py.util import pkl5

# Both ends take the same of the two for a message; this one for arrays of {value} elements and more.
out_of_band = pkl5.Intracomm(comm)
out_of_band.send(array, destination)
""",
    ),
    Setting(
        library="mpi4py",
        name="Send_init",
        about="the length from which on an array is sent faster by a request that is set up once than by `Send`",
        experiment="mpi_pingpong",
        metric="round trip",
        protocols=ARRAYS,
        rule=Onset("persistent", other="Send", default="Send"),
        snippet="""\
# Once, for an array of {value} elements or more that is sent often:
request = comm.Send_init(array, destination)
# Each time; the other end does as much with Recv_init:
request.Start()
request.Wait()
""",
    ),
    Setting(
        library="ipyparallel",
        name="TaskScheduler.scheme_name",
        about="the scheduler, for empty tasks without a high-water mark",
        experiment="task_latency",
        metric="round trip",
        protocols="empty tasks",
        rule=Choice("leastload", {scheme: scheme for scheme in SCHEMES}),
        snippet="""\
# in ipcontroller_config.py
c.TaskScheduler.scheme_name = {value}
c.TaskScheduler.hwm = 0
""",
    ),
    Setting(
        library="ipyparallel",
        name="TaskScheduler.hwm",
        about="the tasks that an engine is handed at a time, 0 being any number, for empty tasks",
        experiment="task_latency",
        metric="round trip",
        protocols="empty tasks",
        rule=Choice("leastload hwm 1", {"leastload hwm 1": 1, "leastload": 0, "leastload hwm 2": 2}),
        snippet="""\
# in ipcontroller_config.py
c.TaskScheduler.hwm = {value}
""",
    ),
    *(
        Setting(
            library="ipyparallel",
            name="Session.packer",
            about=f"how messages are packed, for {tasks}",
            experiment=experiment,
            metric="round trip",
            protocols="",
            rule=Choice("leastload", {"leastload": "json", "leastload msgpack": "msgpack"}),
            snippet="""\
# in ipcontroller_config.py; engines and clients are told by the controller's connection files
c.Session.packer = {value}
c.Session.unpacker = {value}
""",
        )
        for experiment, tasks in (("task_latency", "empty tasks"), ("task_throughput", "tasks that carry an array"))
    ),
    Setting(
        library="ipyparallel",
        name="chunksize",
        about=f"how long a chunk of items has to last, so that engines are busy for {BUSY:.0%} of the time",
        experiment="task_map",
        metric="efficiency",
        protocols=EQUAL_TASKS,
        rule=Level(BUSY, arms=("leastload", "pure")),
        snippet="""\
import math

chunk = math.ceil({value} / microseconds_per_item)
results = view.map(function, items, chunksize=chunk)  # view: the client's load_balanced_view()
""",
    ),
    Setting(
        library="ipyparallel",
        name="task farm",
        about="who is to farm out tasks that last",
        experiment="task_map",
        metric="efficiency",
        protocols=EQUAL_TASKS,
        rule=Choice(
            "leastload",
            {
                "leastload": "ipyparallel",
                "pure": "ipyparallel with the scheduler pure",
                "concurrent.futures": "concurrent.futures",
                "mpi4py.futures": "mpi4py.futures",
                "dask": "dask",
            },
        ),
        snippet={
            "ipyparallel with the scheduler pure": """\
# in ipcontroller_config.py
c.TaskScheduler.scheme_name = "pure"
""",
            "concurrent.futures": """\
from concurrent.futures import ProcessPoolExecutor

executor = ProcessPoolExecutor()
""",
            "mpi4py.futures": """\
from mpi4py.futures import MPIPoolExecutor

executor = MPIPoolExecutor()
""",
            "dask": """\
from distributed import Client

executor = Client().get_executor()
""",
        },
    ),
)
