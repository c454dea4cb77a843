"""The settings that a run can recommend: what decides each, and the lines to paste. A new one is an entry here.

A default is what a library does where nobody sets anything. The tests hold what is said of it here, and every snippet,
against the libraries themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from crossover.records.protocol import Keys

Value = str | int


@dataclass(frozen=True)
class Onset:
    """A place on the axis: from there on one of `arms` is to be used, and `other` before."""

    arms: tuple[str, ...]
    """The alternatives; the one that gains most along the axis is recommended."""
    other: str
    """The arm that is what one has without the setting."""
    shipped: str = ""
    """The arm that changes over from `other` to the alternative at the library's own place, `shipped_from`."""
    shipped_from: float = inf


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
class Aim:
    """What a user can want of a setting, and the metric that decides whether the setting serves it."""

    name: str
    """In the user's words, to follow "for"."""
    experiment: str
    metric: str
    where: Keys
    """The keys of the curves that decide."""
    condition: tuple[str, ...] = ()
    """The keys that name the condition; without any the whole protocol does. Curves of several aims under the same
    condition are compared with each other."""
    beside: tuple[str, ...] = ()
    """Metrics of the same curves that are shown beside a recommendation. None of them is ever a reason for one."""


@dataclass(frozen=True)
class Setting:
    """One setting, in every condition under which it was measured."""

    library: str
    name: str
    about: str
    """What its value says, to follow the name."""
    rule: Onset | Choice | Level
    aims: tuple[Aim, ...]
    """The most important first: where one value serves several, it is the value of the first."""
    snippet: str | Mapping[Value, str]
    """What to paste, by the value or the arm where the text depends on it; `{value}` stands for the value in Python."""


PYZMQ_THRESHOLD_BYTES = 65536
"""`zmq.COPY_THRESHOLD` as pyzmq is shipped."""

BUSY = 0.95
SCHEMES = ("leastload", "pure", "lru", "weighted", "plainrandom", "twobin")

FLOODS = Aim(
    "throughput",
    experiment="zmq_throughput",
    metric="throughput",
    where={"pattern": "PUSH/PULL", "polled": False},
    condition=("transport",),
    beside=("send rate", "peak memory"),
)
QUESTIONS = Aim(
    "round trip",
    experiment="zmq_latency",
    metric="round trip, median",
    where={"pattern": "REQ/REP", "legacy": False},
    condition=("transport",),
    beside=("round trip, 99th percentile",),
)
ARRAYS = Aim(
    "round trip",
    experiment="mpi_pingpong",
    metric="round trip",
    where={"object": "float64 array", "re_sent": False},
)
EMPTY_TASKS = Aim(
    "rate of empty tasks",
    experiment="task_latency",
    metric="round trip",
    where={"work": "empty"},
    condition=("engines",),
    beside=("submission",),
)
TASKS_WITH_ARRAYS = Aim(
    "rate of tasks that carry an array",
    experiment="task_throughput",
    metric="round trip",
    where={"work": "echo"},
    condition=("engines",),
    beside=("submission",),
)
LASTING_TASKS = Aim(
    "efficiency of tasks that last",
    experiment="task_map",
    metric="efficiency",
    where={"durations": "equal"},
    condition=("engines",),
)

SETTINGS = (
    Setting(
        library="pyzmq",
        name="copy_threshold",
        about="the size from which on `send(copy=False)` lends a message instead of copying it",
        rule=Onset(("no-copy",), other="copy", shipped="default", shipped_from=PYZMQ_THRESHOLD_BYTES),
        aims=(FLOODS, QUESTIONS),
        snippet="""\
socket.copy_threshold = {value}  # bytes; for every socket made from here on: zmq.COPY_THRESHOLD = {value}
socket.send(message, copy=False)  # lends from that size on, copies below
""",
    ),
    Setting(
        library="mpi4py",
        name="send, Send or pkl5",
        about="the call, and the length from which on it sends an array faster than `send`",
        rule=Onset(("Send", "pkl5.send"), other="send"),
        aims=(ARRAYS,),
        snippet={
            "Send": """\
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
            "pkl5.send": """\
from mpi4py.util import pkl5

# Both ends use the same of the two for a message; this one for arrays of {value} elements and more.
out_of_band = pkl5.Intracomm(comm)
out_of_band.send(array, destination)
""",
        },
    ),
    Setting(
        library="mpi4py",
        name="Send_init",
        about="the length from which on a request that is set up once sends an array faster than `Send`",
        rule=Onset(("persistent",), other="Send"),
        aims=(ARRAYS,),
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
        about="the scheduler, without a high-water mark",
        rule=Choice("leastload", {scheme: scheme for scheme in SCHEMES}),
        aims=(EMPTY_TASKS, LASTING_TASKS),
        snippet="""\
# in ipcontroller_config.py
c.TaskScheduler.scheme_name = {value}
c.TaskScheduler.hwm = 0
""",
    ),
    Setting(
        library="ipyparallel",
        name="TaskScheduler.hwm",
        about="the tasks that an engine is handed at a time, 0 being any number",
        rule=Choice("leastload hwm 1", {"leastload hwm 1": 1, "leastload": 0, "leastload hwm 2": 2}),
        aims=(EMPTY_TASKS, LASTING_TASKS),
        snippet="""\
# in ipcontroller_config.py
c.TaskScheduler.hwm = {value}
""",
    ),
    Setting(
        library="ipyparallel",
        name="Session.packer",
        about="how messages are packed",
        rule=Choice("leastload", {"leastload": "json", "leastload msgpack": "msgpack"}),
        aims=(EMPTY_TASKS, TASKS_WITH_ARRAYS, LASTING_TASKS),
        snippet="""\
# in ipcontroller_config.py; engines and clients are told by the controller's connection files
c.Session.packer = {value}
c.Session.unpacker = {value}
""",
    ),
    Setting(
        library="ipyparallel",
        name="chunksize",
        about=f"how long a chunk of items has to last, so that engines are busy for {BUSY:.0%} of the time",
        rule=Level(BUSY, arms=("leastload", "pure")),
        aims=(LASTING_TASKS,),
        snippet="""\
import math

chunk = math.ceil({value} / microseconds_per_item)
results = view.map(function, items, chunksize=chunk)  # view: the client's load_balanced_view()
""",
    ),
    Setting(
        library="ipyparallel",
        name="task farm",
        about="the library that farms out tasks",
        rule=Choice(
            "leastload",
            {
                "leastload": "ipyparallel",
                "concurrent.futures": "concurrent.futures",
                "mpi4py.futures": "mpi4py.futures",
                "dask": "dask",
            },
        ),
        aims=(LASTING_TASKS, EMPTY_TASKS, TASKS_WITH_ARRAYS),
        snippet={
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
