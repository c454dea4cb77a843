"""Round trips of an object between two ranks of MPI: pickled, pickled out of band, or as a buffer."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from crossover.design import advice, settings
from crossover.design.cell import Axis, Metric
from crossover.design.experiments import Experiment, Rung
from crossover.design.protocol import label

METRICS = (Metric("round trip", "s", "lower"),)
OBJECTS = ("float64 array", "bytes", "list of floats", "dict")
CALLS = (
    *("send", "Send", "pkl5.send", "persistent", "send into buffer", "Send into new array"),
    *("pkl5.send in band", "pkl5.send out of band"),
)
PLAYERS = {
    "rank": {"player": "rank", "memory": "fresh"},
    "rank, kept memory": {"player": "rank", "memory": "kept"},
    "engine": {"player": "engine", "memory": "fresh"},
}
CEILINGS = ("C", "raw TCP", "raw Unix socket", "memcpy")

KINDS = [{"object": name, "re_sent": re_sent} for name in OBJECTS for re_sent in (False, True)]
"""Every kind of object, sent or re-sent; the setting lists re-sent ones only for arrays."""
NAMED = [keys for keys in KINDS if not keys["re_sent"] or keys["object"] == "float64 array"]
EVERY_OBJECT = tuple(label(keys) for keys in NAMED)

PLAYING = {"farm": "ipyparallel", "scheme": "leastload", "hwm": 1}
"""The farm whose two engines play ping-pong. Each engine gets one task at a time, so that both take part."""

REQUEST = """\
request = comm.Send_init(array, destination)
# Each time; the other end does the same with Recv_init:
request.Start()
request.Wait()
"""

LEVELS = ("single", "funneled", "serialized", "multiple")


@dataclass(frozen=True, kw_only=True)
class Settings(settings.Settings):
    """Its settings."""

    within_a_host = ("raw Unix socket", "memcpy")

    elements: Annotated[
        settings.Points,
        "The axis, array lengths in elements. A list or dict has as many floats; a bytes object has as many bytes "
        "as an array of float64. The `paper` tier has the points of the mpi4py tutorial.",
    ]
    objects: Annotated[
        settings.Some,
        settings.Curves.labelled(NAMED),
        "The object that is sent, one curve each. `float64 array, re-sent` is received into the memory that it was "
        "sent from, as in the mpi4py tutorial. The ceiling `memcpy`, which copies between two buffers, does not "
        "apply there.",
    ]
    thread_levels: Annotated[
        settings.Some,
        settings.Curves.valued("thread_level", LEVELS),
        settings.ONE_EACH,
        "Thread levels that are requested from MPI, each in separate launches. mpi4py requests `multiple` by default.",
    ]
    players: Annotated[
        settings.Some,
        settings.Curves(tuple(PLAYERS), entries=PLAYERS),
        settings.ONE_EACH,
        "What the two ends are, each in separate launches. `rank` is a plain MPI rank. `engine` is a rank that is "
        f"also an ipyparallel engine, and plays within tasks, as in the mpi4py tutorial. {settings.MEMORY_WORDS}",
    ]
    arms: Annotated[
        settings.Arms,
        settings.OneOf(CALLS),
        "The calls of a round trip. `send` pickles (`send`/`recv`). `Send` passes the buffer (`Send`/`Recv`). "
        "`pkl5.send` pickles with large buffers out of band (`mpi4py.util.pkl5`); `in band` none is, `out of band` "
        "all are. `persistent` passes the buffer "
        "through calls that are set up once (`Send_init`/`Recv_init`). `send into buffer` pickles, and receives "
        "into reused memory (`irecv(buf)`). `Send into new array` is `Send`, but receives each message into a "
        "newly allocated array. `Send` and `persistent` take only arrays and bytes, `Send into new array` only "
        "arrays.",
    ]
    ceilings: Annotated[
        settings.Names,
        settings.OneOf(CEILINGS),
        "Upper bounds for the arms, measured beside them. `C` is the same exchange in C on the same MPI. `raw TCP` "
        "and `raw Unix socket` use a plain socket, `memcpy` copies within one process. Across hosts, the last two "
        "are left out. They need a C compiler; with `[]` nothing is built.",
    ]
    reference: Annotated[str, settings.OneOf(of="arms"), settings.REFERENCE] = "send"

    @property
    def thread_level(self) -> str:
        """The thread level of a launch."""
        return self.thread_levels[0]

    @property
    def player(self) -> str:
        """What the two ends of a launch are."""
        return PLAYERS[self.players[0]]["player"]

    @property
    def memory(self) -> str:
        """How their allocator treats freed memory."""
        return PLAYERS[self.players[0]]["memory"]

    @property
    def mpi_thread_level(self) -> str:
        """The thread level that the ranks request."""
        return self.thread_level

    def ranks_between(self) -> int:
        """With engines, rank 0 is the client."""
        return 3 if self.player == "engine" else 2

    def farms_played(self) -> Mapping[str, settings.FarmEntry]:
        """The engines that play."""
        return {"engine": PLAYING} if self.player == "engine" else {}


QUICK = Settings(
    elements=settings.decades(1, 1_000_000, 1),
    objects=("float64 array", "float64 array, re-sent"),
    thread_levels=("multiple",),
    players=tuple(PLAYERS),
    arms=("send", "Send", "Send into new array", "pkl5.send"),
    ceilings=("C", "memcpy"),
    launches=3,
    block_seconds=0.002,
    rounds=settings.Rounds(at_most=500),
    target_width=0.01,
    budget_seconds=2.5,
)
STANDARD = replace(
    QUICK,
    elements=settings.decades(1, 1_000_000, 2),
    objects=EVERY_OBJECT,
    thread_levels=("single", "multiple"),
    arms=CALLS,
    ceilings=CEILINGS,
    target_width=0.005,
    budget_seconds=12,
    **settings.AT_STANDARD,
)
PAPER = replace(
    STANDARD,
    elements=(
        *(1, 3, 10, 32, 100, 316, 1000, 1412, 1995, 2818, 3981, 5623, 7943, 11220, 15848, 22387, 31622),
        *(44668, 63095, 89125, 100000, 125892, 177827, 251188, 354813, 501187, 707945, 1000000),
    ),
    target_width=0.003,
    budget_seconds=100,
    **settings.AT_PAPER,
)
SMOKE = replace(QUICK, elements=(1, 1000, 100000), players=("rank",), launches=2, budget_seconds=2)

EXPERIMENT = Experiment(
    title="MPI: pickled or buffer messages",
    about="One rank sends an object to another, which sends it back, through mpi4py.",
    subject="mpi4py arrays",
    action="send NumPy arrays",
    library="mpi4py",
    place=50,
    default="send",
    synonyms={
        **{"mpi": "mpi4py", "comm": "mpi4py ", "numpy": "NumPy arrays"},
        **dict.fromkeys(("Isend", "isend", "Irecv", "irecv", "Ssend", "Bsend"), ""),
    },
    axis=Axis("array length", "elements"),
    metrics=METRICS,
    diagnostic=("Send into new array", "pkl5.send in band", "pkl5.send out of band"),
    keys={
        "object": OBJECTS,
        "re_sent": [False, True],
        "thread_level": LEVELS,
        "player": ["rank", "engine"],
        "memory": settings.MEMORY,
    },
    tiers=settings.Tiers(SMOKE, QUICK, STANDARD, PAPER),
    built={
        "C": ["mpi_exchange"],
        "raw TCP": ["stream_pingpong"],
        "raw Unix socket": ["stream_pingpong"],
        "memcpy": ["memory_copy"],
    },
    rungs=tuple(
        Rung(place, name, arm, {"object": "float64 array", "re_sent": False, "memory": "fresh"})
        for place, name, arm in (
            (10, "memcpy", "memcpy"),
            (20, "raw Unix socket", "raw Unix socket"),
            (30, "raw TCP", "raw TCP"),
            (40, "MPI in C", "C"),
            (50, "mpi4py Send", "Send"),
            (60, "mpi4py send", "send"),
        )
    ),
    recommends=(
        advice.Setting(
            library="mpi4py",
            name="send, Send or pkl5",
            about="the call, and the length from which it sends an array faster than `send`",
            default="send",
            values={"Send": "Send", "pkl5.send": "pkl5.send"},
            beyond={
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
            snippet={
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
        advice.Setting(
            library="mpi4py",
            name="Send_init",
            about="the length from which a request that is set up once sends an array faster than `Send`",
            default="Send",
            values={"persistent": "persistent"},
            snippet=f"# Once, for an array that is sent often:\n{REQUEST}",
            beyond={"persistent": f"# Once, for an array of {{value}} elements or more that is sent often:\n{REQUEST}"},
        ),
    ),
)
