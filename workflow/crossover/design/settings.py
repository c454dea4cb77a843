"""The settings of an experiment: a frozen dataclass. Its fields give help texts, checks and the stored form.

An experiment declares a class below `Settings`, and its defaults as one instance for each tier. A launch has settings
of the same class, restricted to what its processes need. Every rank loads this module, so it imports nothing slow.
"""

import inspect
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache, cached_property
from itertools import product
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin

from crossover.design.protocol import Keys, label

TIERS = ("smoke", "quick", "standard", "paper")

Names = tuple[str, ...]
Numbers = tuple[int, ...]
FarmEntry = Mapping[str, Any]
"""A configured task farm: `farm`, `alone` if it shares a launch with no other rival, `children` if its engines are
processes or threads of the client instead of ranks, and the farm's options."""


@dataclass(frozen=True)
class OneOf:
    """The names that a setting allows, or the setting (`arms`) with them."""

    names: Sequence[str] = ()
    of: str = ""


@dataclass(frozen=True)
class Curves(OneOf):
    """The names of curves that a setting allows, with the keys of each."""

    entries: Mapping[str, Keys] = field(default_factory=dict, hash=False)

    @classmethod
    def labelled(cls, every: Iterable[Keys]) -> Self:
        """Curves with several keys each, by their labels."""
        entries = {label(keys): keys for keys in every}
        return cls(tuple(entries), entries=entries)

    @classmethod
    def valued(cls, key: str, names: Sequence[str]) -> Self:
        """Values of one key, a curve each."""
        return cls(tuple(names), entries={name: {key: name} for name in names})


class Bound:
    """A bound of a value. Those of annotated_types would do, but take a rank's time to load."""

    def __get_pydantic_core_schema__(self, kind: Any, schema_of: Any) -> Any:
        """What pydantic checks: its own schema of the type, with this bound."""
        return schema_of(kind) | vars(self)


@dataclass(frozen=True)
class Ge(Bound):
    """At least so much."""

    ge: float


@dataclass(frozen=True)
class Gt(Bound):
    """More than this."""

    gt: float


@dataclass(frozen=True)
class Le(Bound):
    """At most so much."""

    le: float


@dataclass(frozen=True)
class MinLen(Bound):
    """At least so many entries."""

    min_length: int


class Mark:
    """A property of a field."""


ONE_EACH = Mark()
"""Marks a list of which a launch has one value. A process has one MPI thread level, and a farm keeps its engines."""

AXIS = Mark()
"""Marks the points of an axis: in YAML a list, or {from, to, per_decade}."""

Count = Annotated[int, Ge(1)]
Seconds = Annotated[float, Gt(0)]
Some = Annotated[Names, MinLen(1)]
Arms = Annotated[Names, MinLen(2)]
Points = Annotated[tuple[Annotated[int, Ge(1), Le(1_000_000_000_000)], ...], AXIS, MinLen(1)]
RoundCount = Annotated[int, Ge(3)]


def decades(low: int, high: int, per_decade: int) -> Numbers:
    """Points at equal ratios, in rising order.

    >>> decades(100, 10000, 3)
    (100, 215, 464, 1000, 2154, 4642, 10000)
    """
    wide = math.log10(high / low)
    steps = max(1, round(wide * per_decade))
    return tuple(sorted({round(low * 10 ** (wide * step / steps)) for step in range(steps + 1)}))


@dataclass(frozen=True)
class Rounds:
    """The rounds of a cell after which it stops as soon as it is settled, and the most."""

    at_most: RoundCount
    at_least: RoundCount = 10


MEMORY = ("fresh", "kept")
"""The states of glibc's allocator, by what a message of 128 KiB or more gets: pages that the kernel clears for it, or
pages that earlier messages have used. By default the order of earlier frees decides."""
MEMORY_WORDS = (
    "`fresh` memory is what a program has that sends arrays of one length: each large message gets pages that the "
    "kernel has to clear. `kept` memory is reused; a program gets it by glibc's variables `MALLOC_MMAP_THRESHOLD_`, "
    "`MALLOC_TRIM_THRESHOLD_` and `MALLOC_TOP_PAD_`."
)

WHERE = (
    "Where the two ends, or a farm's client and its engines, are. `node`: processes of one host. `process`: threads of "
    "one process. `nodes`: processes on several hosts, measured only if a batch system provides them."
)
BINDINGS = ("own", "shared", "free")
Bindings = Annotated[
    Some,
    Curves.valued("binding", BINDINGS),
    "The cores of the two ends of round trips within a host, one curve each. `own`: a core each. `shared`: one for "
    "both. `free`: the scheduler decides, and may decide otherwise in the next run. Streams are always free.",
]
REFERENCE = "The arm that all others are divided by; the first of the arms, if these lack it."

START_SECONDS = 1
START_SECONDS_PER_RANK = 0.7
"""Time of a launch besides its budget, for starting and stopping processes. Measured on two cores, up to 11 ranks."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What all experiments have. A launch has one placement, one budget, and one value of each list of ONE_EACH."""

    arms: Arms
    reference: Annotated[str, OneOf(of="arms"), REFERENCE]
    ceilings: Names = ()
    placements: Annotated[Some, OneOf(("node", "nodes")), WHERE] = ("node", "nodes")
    launches: Annotated[
        Count,
        "Independent process launches of each group of rivals, the unit of replication. One launch gives no interval; "
        "an interval from two says little. All groups together have at most 10,000.",
    ]
    block_seconds: Annotated[
        Seconds,
        "The time of a block, or a little longer. The number of repetitions in a block is calibrated to it.",
    ]
    fewest_rounds: Annotated[
        Count,
        "Rounds of a cell even if the budget is spent. Many launches of one round say more than few of many.",
    ] = 3
    rounds: Annotated[
        Rounds,
        "The rounds of a cell after which it stops as soon as it reaches `target_width`, and the most. Each round "
        "runs every arm once; ceilings in every third, and so the null arm of a launch with many cells, and rivals "
        "that take far longer than the reference.",
    ]
    target_width: Annotated[
        Seconds,
        "A cell stops once the interval of every ratio within the launch reaches at most this far to either side, "
        "as a fraction of the ratio.",
    ]
    budget_seconds: Annotated[
        Seconds | dict[str, Seconds],
        "Time for the cells of one launch; costly cells get fewer rounds. One number, or one per placement.",
    ]
    entrants: Mapping[str, FarmEntry] = field(default_factory=dict)
    """The configured task farms by name: those of all experiments; in a launch, its own."""

    within_a_host: ClassVar[Names] = ()
    """Ceilings that cannot be measured between hosts."""
    pairs_of_hosts: ClassVar[bool] = False
    """Whether a launch measures pairs of its hosts, for the table of pairs."""

    # ---- of one launch

    @property
    def placement(self) -> str:
        """Where the ranks of the launch are: `process`, `node` or `nodes`."""
        return self.placements[0]

    @property
    def seconds(self) -> float:
        """The time for the cells of the launch."""
        assert not isinstance(self.budget_seconds, Mapping), "only an experiment has a budget per placement"
        return float(self.budget_seconds)

    @property
    def nodes(self) -> int:
        """Hosts of the launch."""
        return self.hosts_across() if self.placement == "nodes" else 1

    @property
    def ranks(self) -> int:
        """Ranks of the launch."""
        return 1 if self.placement == "process" else self.ranks_between()

    @property
    def slurm_tasks(self) -> int:
        """Tasks to request from a batch system: one per rank, but at least two; Slurm's plugin refuses one."""
        return max(2, self.ranks)

    @property
    def expected_seconds(self) -> float:
        """The expected time of the launch, with the start of its processes."""
        return START_SECONDS + START_SECONDS_PER_RANK * self.ranks + self.seconds

    @property
    def limit_seconds(self) -> int:
        """The time after which the supervisor ends the launch: four times the budget, and more for its start."""
        return math.ceil(90 + 3 * self.ranks + 4 * self.seconds)

    # ---- what an experiment may change

    def hosts_across(self) -> int:
        """The hosts of a launch in placement `nodes`."""
        return 2

    def fitted(self, hosts: int) -> Self:
        """The settings where a launch can have at most so many hosts."""
        return self

    def ranks_between(self) -> int:
        """The ranks of a launch, except in placement `process`, which has one."""
        return 2

    @property
    def memory(self) -> str:
        """How glibc treats freed memory in a launch's ranks, one of MEMORY; empty for its default."""
        return ""

    @property
    def mpi_thread_level(self) -> str:
        """The thread level that the ranks of a launch request from MPI; empty for mpi4py's default."""
        return ""

    @property
    def threads_of_libraries(self) -> str:
        """The threads inside libraries in a launch's ranks, a number or `as set`; empty for those of the job."""
        return ""

    @property
    def idle(self) -> bool:
        """Whether a launch has nothing to measure in its placement."""
        return False

    @property
    def axis(self) -> tuple[str, Numbers]:
        """The setting with the points of the axis, and these: the first setting with several numbers."""
        own = ((name, getattr(self, name)) for name in described(type(self)))
        return next(each for each in own if isinstance(each[1], tuple) and isinstance((*each[1], "")[0], int))

    def only(self, point: int) -> Self:
        """The settings with only this point of the axis."""
        return replace(self, **dict[str, Any]({self.axis[0]: (point,)}))

    @property
    def rivals(self) -> Names:
        """The arms that are divided by the reference."""
        return tuple(name for name in self.arms if name != self.reference)

    def groups(self) -> list[Names]:
        """The rivals, by the launch that they share with the reference."""
        return [self.rivals]

    def within(self, placement: str) -> Self:
        """The settings for launches in this placement alone."""
        own, far = self.budget_seconds, placement == "nodes"
        return replace(
            self,
            placements=(placement,),
            ceilings=tuple(name for name in self.ceilings if not far or name not in self.within_a_host),
            budget_seconds=own.get(placement, 0.0) if isinstance(own, Mapping) else own,
        )

    def farms_played(self) -> Mapping[str, FarmEntry]:
        """The task farms that a launch needs, although none is an arm."""
        return {}

    # ---- from an experiment's to those of its launches

    def turns(self) -> list[Self]:
        """The settings of launches in one placement: launches have them in turn, each repeating that of the first turn.

        Each has the reference and a group of rivals, and one value of every list of ONE_EACH.
        """
        lists = [name for name, own in described(type(self)).items() if own.one_each]
        each: list[list[Any]] = [[(value,) for value in getattr(self, name)] for name in lists]
        found = []
        for *chosen, group in product(*each, self.groups()):
            one_each: dict[str, Any] = dict(zip(lists, chosen, strict=True))
            found.append(replace(self, arms=(self.reference, *group), **one_each))
        return found

    def of_launch(self) -> Self:
        """The settings of a launch with these, with no other farms than its own."""
        names = {*self.arms, *self.ceilings}
        own = {name: entrant for name, entrant in self.entrants.items() if name in names}
        return replace(self, launches=1, entrants={**own, **self.farms_played()})

    # ---- as text

    @cached_property
    def digest(self) -> str:
        """The digest of a launch's settings in the names of its files."""
        return digest(self.stored)

    @cached_property
    def stored(self) -> dict[str, Any]:
        """The settings of a launch as plain values, without those that only say which launches there are."""
        whole = asdict(self)
        kept = {name: value for name, value in whole.items() if name not in OF_ALL_LAUNCHES}
        near = () if self.placement == "nodes" else BETWEEN_HOSTS
        told = {name: value for name, value in kept.items() if value is not None and value != {} and name not in near}
        # As JSON gives them back.
        return json.loads(json.dumps(told | {"placement": self.placement}))  # type: ignore[no-any-return]

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Self:
        """Settings from plain values, which are known to be valid: those of YAML, or what `stored` gave."""
        known = {each.name for each in fields(cls)}
        own = {name: _made(cls, name, value) for name, value in told.items() if name in known}
        if "placement" in told:
            own |= {"placements": (told["placement"],), "launches": 1}
        return cls(**own)


OF_ALL_LAUNCHES = ("launches", "placements", "rivals_per_launch")
"""Settings that say which launches there are, and so do not belong to a single launch."""

BETWEEN_HOSTS = ("hosts",)
"""Settings that a launch within one host does not have."""


@dataclass(frozen=True)
class Described:
    """What a field of settings says: its type without annotations, its bounds, its meaning, the names it allows."""

    bare: Any
    bounds: tuple[Any, ...]
    about: str
    allowed: OneOf | None
    one_each: bool
    axis: bool

    @property
    def entries(self) -> Any:
        """The type of the entries of a list, with its bounds; None for other types."""
        return get_args(self.bare)[0] if get_origin(self.bare) is tuple else None

    @property
    def kind_of_entries(self) -> Any:
        """The same without its bounds."""
        return get_args(self.entries)[0] if get_origin(self.entries) is Annotated else self.entries


def described(kind: type) -> Mapping[str, Described]:
    """The keys of an experiment's part of the configuration, with its own before those that all have.

    A field without a text is no key: planning sets it. The fields of the configuration itself, and of any other frozen
    dataclass, are described in the same way.
    """
    return _read(kind)


@cache
def _read(kind: type) -> Mapping[str, Described]:
    hints: dict[str, Any] = {}
    for each in kind.__mro__:
        hints = {**hints, **{name: hint for name, hint in inspect.get_annotations(each).items() if name not in hints}}
    names = {each.name for each in fields(kind)}
    found = {name: _described(hint) for name, hint in hints.items() if name in names}
    return {name: own for name, own in found.items() if own.about or not issubclass(kind, Settings)}


def _described(hint: Any) -> Described:
    bare, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    return Described(
        bare,
        tuple(each for each in marks if isinstance(each, Bound)),
        next((each for each in marks if isinstance(each, str)), ""),
        next((each for each in marks if isinstance(each, OneOf)), None),
        ONE_EACH in marks,
        AXIS in marks,
    )


def _made(kind: type[Settings], name: str, value: Any) -> Any:
    """The value of a field, from its plain form."""
    own = described(kind).get(name)
    if own and own.axis:
        if isinstance(value, Mapping):
            return decades(value["from"], value["to"], value["per_decade"])
        return tuple(sorted(value))
    if name == "rounds":
        return value if isinstance(value, Rounds) else Rounds(**value)
    return tuple(value) if isinstance(value, list) else value


def entries(kind: type[Settings], name: str) -> Mapping[str, Keys]:
    """The keys of each curve that a setting can name; none for other settings."""
    own = described(kind).get(name)
    return own.allowed.entries if own and isinstance(own.allowed, Curves) else {}


@dataclass(frozen=True)
class Tiers:
    """The defaults of an experiment at each tier."""

    smoke: Settings
    quick: Settings
    standard: Settings
    paper: Settings

    @classmethod
    def of(cls, quick: Settings) -> Self:
        """The points of `quick` at every tier, measured longer and more often from one tier to the next."""
        standard = replace(quick, target_width=quick.target_width / 2, budget_seconds=3 * quick.seconds, **AT_STANDARD)
        paper = replace(standard, target_width=quick.target_width / 4, budget_seconds=12 * quick.seconds, **AT_PAPER)
        return cls(replace(quick, launches=1, budget_seconds=1), quick, standard, paper)

    def at(self, tier: str) -> Settings:
        """The defaults at this tier."""
        found: Settings = getattr(self, tier)
        return found


AT_STANDARD: dict[str, Any] = {"launches": 12, "fewest_rounds": 1}
AT_PAPER: dict[str, Any] = {"launches": 16}
"""How often most experiments are measured at these tiers, as far as it differs from the tier below."""


def canonical(settings: Mapping[str, Any]) -> str:
    """Stored settings as JSON; equal settings give equal text."""
    return json.dumps(settings, sort_keys=True)


def digest(stored: Mapping[str, Any]) -> str:
    """The digest of stored settings."""
    # A rank needs none.
    from hashlib import sha256

    return sha256(canonical(stored).encode()).hexdigest()[:8]


def read_settings(text: str | None) -> dict[str, Any]:
    """Stored settings from JSON; empty without text, because not every launch has stored its settings."""
    stored: dict[str, Any] = json.loads(text or "{}")
    return stored
