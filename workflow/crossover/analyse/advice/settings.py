"""The settings that a run can recommend: the rule of each, and the lines to paste. A new setting is an entry here.

A default is a library's behaviour if nothing is set. Tests check the defaults and every snippet against the libraries
themselves.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

from crossover import farms
from crossover.design.experiment import Aim
from crossover.experiments import aim

Value = str | int


@dataclass(frozen=True)
class Onset:
    """A point of the axis from which one of `arms` should be used, and `other` below it."""

    arms: tuple[str, ...]
    """The alternatives; the one with the largest gain along the axis is recommended."""
    other: str
    """The arm without the setting."""
    shipped: str = ""
    """The arm that switches from `other` to the alternative at the library's own threshold, `shipped_from`."""
    shipped_from: float = inf


@dataclass(frozen=True)
class Choice:
    """One of several arms for the whole axis: the best of those that beat the default."""

    default: str
    values: Mapping[str, Value]
    """The value that selects each arm, including the default."""


@dataclass(frozen=True)
class Level:
    """A point of the axis from which the metric reaches `level`, for each arm separately. There is no default."""

    level: float
    arms: tuple[str, ...]


@dataclass(frozen=True)
class Setting:
    """One setting, in every condition under which it was measured."""

    library: str
    name: str
    about: str
    """The meaning of its value, to follow the name."""
    rule: Onset | Choice | Level
    aims: tuple[Aim, ...]
    """The most important first; if one value serves several, it is the value for the first."""
    snippet: str | Mapping[Value, str]
    """The lines to paste, or one text per value or arm; `{value}` stands for the value in Python."""
    everywhere: Mapping[str, str] = field(default_factory=dict)
    """By arm, the lines for an arm that is to be used at every measured point."""


PYZMQ_THRESHOLD_BYTES = 65536
"""`zmq.COPY_THRESHOLD` as shipped with pyzmq."""

BUSY = 0.95
SCHEMES = ("leastload", "pure", "lru", "weighted", "plainrandom", "twobin")
OTHER_FARMS: dict[Value, str] = {
    next(iter(farm.entrants)): farm.snippet for farm in farms.declared().values() if farm.snippet
}

FLOODS, QUESTIONS, ARRAYS = aim("floods"), aim("questions"), aim("arrays")
EMPTY_TASKS, TASKS_WITH_ARRAYS, LASTING_TASKS = aim("empty tasks"), aim("tasks with arrays"), aim("longer tasks")

SETTINGS = (
    Setting(
        library="pyzmq",
        name="copy_threshold",
        about="the size from which on `send(copy=False)` lends a message instead of copying it",
        rule=Onset(("no-copy",), other="copy", shipped="default", shipped_from=PYZMQ_THRESHOLD_BYTES),
        aims=(FLOODS, QUESTIONS),
        snippet="""\
socket.copy_threshold = {value}  # bytes; for all later sockets: zmq.COPY_THRESHOLD = {value}
socket.send(message, copy=False)  # lends from that size on, copies below
""",
    ),
    Setting(
        library="mpi4py",
        name="send, Send or pkl5",
        about="the call, and the length from which it sends an array faster than `send`",
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

# For arrays of {value} elements or more; both ends must use the same call for a message.
out_of_band = pkl5.Intracomm(comm)
out_of_band.send(array, destination)
""",
        },
        everywhere={
            "Send": """\
comm.Send(array, destination)
# The other end: comm.Recv(array, source)
""",
            "pkl5.send": """\
from mpi4py.util import pkl5

# Both ends must use the same call for a message.
out_of_band = pkl5.Intracomm(comm)
out_of_band.send(array, destination)
""",
        },
    ),
    Setting(
        library="mpi4py",
        name="Send_init",
        about="the length from which a request that is set up once sends an array faster than `Send`",
        rule=Onset(("persistent",), other="Send"),
        aims=(ARRAYS,),
        snippet="""\
# Once, for an array of {value} elements or more that is sent often:
request = comm.Send_init(array, destination)
# Each time; the other end does the same with Recv_init:
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
        about="the most tasks that an engine gets at a time; 0 for any number",
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
        about="how messages are serialized",
        rule=Choice("leastload", {"leastload": "json", "leastload msgpack": "msgpack"}),
        aims=(EMPTY_TASKS, TASKS_WITH_ARRAYS, LASTING_TASKS),
        snippet="""\
# in ipcontroller_config.py; engines and clients learn it from the controller's connection files
c.Session.packer = {value}
c.Session.unpacker = {value}
""",
    ),
    Setting(
        library="ipyparallel",
        name="chunksize",
        about=f"the duration of a chunk of items that keeps engines busy for {100 * BUSY:.0f} % of the time",
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
        about="the library of the task farm",
        rule=Choice("leastload", {"leastload": "ipyparallel"} | {str(farm): farm for farm in OTHER_FARMS}),
        aims=(LASTING_TASKS, EMPTY_TASKS, TASKS_WITH_ARRAYS),
        snippet=OTHER_FARMS,
    ),
)
