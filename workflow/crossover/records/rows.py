"""The rows of all tables: a dataclass for each table, whose fields are its columns. A missing text is empty, any other
missing value is None.

They are the project's public interface: columns may be added, but existing columns stay, except those of
record.RENAMED. `docs/data.md` explains each column. `keys` stands for a column for each of protocol.KEYS.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args, get_origin, get_type_hints

from crossover.design.protocol import KEYS, Keys, known

if TYPE_CHECKING:
    import pyarrow as pa

TEXTS: tuple[object, ...] = (str, Mapping[str, Any], object)
ARROW = {**dict.fromkeys(TEXTS, "string"), int: "int64", float: "float64", bool: "bool"}
"""The columns' types in Arrow by those of the fields. Mixed settings, and an object, are texts: JSON."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of any table."""

    kinds: ClassVar[dict[str, Any]]
    """The type of each column but the keys, without None."""
    has_keys: ClassVar[bool]

    def __init_subclass__(cls) -> None:
        hints = {name: hint for name, hint in get_type_hints(cls).items() if get_origin(hint) is not ClassVar}
        cls.has_keys = hints.pop("keys", None) is not None
        cls.kinds = {name: get_args(hint)[0] if NoneType in get_args(hint) else hint for name, hint in hints.items()}

    @classmethod
    def of(cls, columns: Mapping[str, Any]) -> Self:
        """The row with these columns, as `to_pylist` and metadata have them; a column that is absent is missing."""
        values = {name: _value(kind, columns.get(name)) for name, kind in cls.kinds.items()}
        return cls(**values, **({"keys": known(columns)} if cls.has_keys else {}))

    @classmethod
    def schema(cls) -> "pa.Schema":
        """The columns of the table, with their types."""
        # Every rank loads this module, and no rank a schema of it.
        import pyarrow as pa

        def arrow(kind: Any) -> "pa.DataType":
            if kind in ARROW:
                return pa.type_for_alias(ARROW[kind])
            if is_dataclass(kind):
                return pa.struct({name: arrow(part) for name, part in get_type_hints(kind).items()})
            part = arrow(get_args(kind)[-1])
            return pa.list_(part) if get_origin(kind) is list else pa.map_(pa.string(), part)

        kinds = cls.kinds | ({name: key.kind for name, key in KEYS.items()} if cls.has_keys else {})
        return pa.schema({name: arrow(kind) for name, kind in kinds.items()})


def _value(kind: Any, value: Any) -> Any:
    """A value of a column as one of the field's type: `to_pylist` has maps as lists of pairs, structs as mappings."""
    if kind is str:
        return value or ""
    if isinstance(value, str):
        # JSON, also in metadata of earlier releases.
        value = json.loads(value)
    if value is None or kind in ARROW:
        return value
    if get_origin(kind) is Mapping:
        return dict(value)
    (part,) = get_args(kind)
    return [part(**each) for each in value] if isinstance(part, type) and is_dataclass(part) else value


@dataclass(frozen=True, kw_only=True)
class InPanel(Row):
    """A row of the curves of one experiment, placement, protocol and metric."""

    experiment: str
    placement: str
    protocol: str
    metric: str
    keys: Keys

    @property
    def conditions(self) -> dict[str, Any]:
        return {**self.keys, "placement": self.placement}


@dataclass(frozen=True, kw_only=True)
class OnAxis(InPanel):
    """The same along an axis."""

    axis: str
    axis_unit: str
    better: str


@dataclass(frozen=True, kw_only=True)
class OfArm(OnAxis):
    """The same of one arm."""

    arm: str
    is_null_arm: bool
    ceiling: bool


@dataclass(frozen=True, kw_only=True)
class Launch(Row):
    """A launch. `outcome` is `measured` or `hole`; for a hole, `hole` is its kind and `reason` its reason."""

    experiment: str
    placement: str
    launch: int
    outcome: str
    hole: str
    reason: str
    file: str
    receipt: str
    started_utc: str
    settings: Mapping[str, Any] | None
    code: str
    commit: str
    host: str
    hosts: str
    ranks: int | None
    job: str
    queued_seconds: float | None
    entering_seconds: float | None
    exclusive: bool | None
    meeting_seconds: float | None
    wall_seconds: float | None
    timed_seconds: float | None
    phases: Mapping[str, float] | None
    notes: str

    @property
    def name(self) -> tuple[str, str, int]:
        """The columns that name the launch."""
        return self.experiment, self.placement, self.launch


TOPOLOGY = "SLURM_TOPOLOGY_ADDR"
"""Slurm's variable with a rank's switches, from the top one down, and its node: `spine.leaf2.node7`."""


@dataclass(frozen=True, kw_only=True)
class Rank(Row):
    """A rank of a launch, as gathered on that rank."""

    experiment: str
    placement: str
    launch: int
    rank: int
    host: str
    interface: str
    address: str
    cpu: str
    logical_cpus: int | None
    load: float | None
    affinity: str
    governor: str
    memory_bytes: int | None
    kernel: str
    os: str
    network: Mapping[str, int] | None
    python: str
    libraries: Mapping[str, str] | None
    mpi: str
    slurm: Mapping[str, str] | None
    container: str
    variables: Mapping[str, str] | None
    tuning: Mapping[str, str] | None

    @property
    def switches(self) -> str:
        """The switches above its host, from the top one down; empty where Slurm names none."""
        return (self.slurm or {}).get(TOPOLOGY, "").rpartition(".")[0]


@dataclass(frozen=True, kw_only=True)
class Measurement(OfArm):
    """A metric of a block. `value` is null if the block was not valid; `validity` says why.

    A block of many pairs of ranks has a row for each, with the two ranks, besides its own, the median over all pairs.
    """

    launch: int
    runs: str
    reference: str
    x: float
    unit: str
    levels: list[float]
    value: float | None
    validity: str
    round: int
    position: int
    n: int
    start_ns: int
    block_seconds: float
    stop: str
    first_rank: int | None
    second_rank: int | None


@dataclass(frozen=True, kw_only=True)
class Median(OfArm):
    """The medians over rounds of a launch, arm and cell, from which all later tables are estimated."""

    launch: int
    reference: str
    x: float
    unit: str
    levels: list[float]
    value: float
    rounds: int
    ratio: float | None
    pairs: int


@dataclass(frozen=True, kw_only=True)
class Summary(OfArm):
    """An arm and cell: the geometric mean over launches of the median over rounds."""

    x: float
    unit: str
    median: float
    low: float | None
    high: float | None
    launches: int
    rounds: int


@dataclass(frozen=True, kw_only=True)
class Ratio(OfArm):
    """An arm and cell: the arm's value divided by the reference's. `verdict` (records.outcome): only of rivals."""

    reference: str
    x: float
    ratio: float
    low: float | None
    high: float | None
    launches: int
    rounds: int
    verdict: str
    smallest_effect: float | None
    launches_needed: int | None


@dataclass(frozen=True, kw_only=True)
class Crossover(OnAxis):
    """An arm and curve: the point where its ratio passes 1 (docs/data.md, Crossover verdicts)."""

    arm: str
    reference: str
    verdict: str
    x: float | None
    low: float | None
    high: float | None
    bracket_low: float | None
    bracket_high: float | None
    launches: int


@dataclass(frozen=True, kw_only=True)
class Threshold(OfArm):
    """An arm, curve and level of the metric: the threshold, from which the level is reached."""

    level: float
    verdict: str
    x: float | None
    low: float | None
    high: float | None
    bracket_low: float | None
    bracket_high: float | None
    launches: int


@dataclass(frozen=True, kw_only=True)
class Sensitivity(InPanel):
    """An arm and curve: the possible bias and the precision, as ratios of at least 1."""

    arm: str
    reference: str
    launches: int
    cells: int
    null_cells: int
    smallest_effect: float | None
    resolution: float | None


@dataclass(frozen=True)
class Candidate:
    """An arm, and the most by which another candidate can be better, as a factor of at least 1."""

    arm: str
    guarantee: float


@dataclass(frozen=True, kw_only=True)
class Choice(OnAxis):
    """A question and point: the arm to choose, and the most that this can cost. `verdict`: records.outcome."""

    unit: str
    x: float
    choice: str
    verdict: str
    guarantee: float
    """The most by which the best candidate can be better, as a factor of at least 1."""
    candidates: list[Candidate]
    left: list[str]
    """The arms that may be the best."""
    next: str
    value: float
    low: float | None
    high: float | None
    factor: float
    """How many times as good as the next arm it is."""
    factor_low: float | None
    factor_high: float | None
    launches: int
    launches_needed: int | None
    change: str | None
    begins: float | None
    begins_low: float | None
    begins_high: float | None

    @property
    def costs(self) -> dict[str, float]:
        """The guarantees of the candidates, by arm."""
        # Null where a file of somebody else has no finite number.
        return {each.arm: each.guarantee for each in self.candidates if each.guarantee is not None}

    @property
    def curve(self) -> tuple[str, str, str, str]:
        """The experiment, protocol, placement and metric."""
        return self.experiment, self.protocol, self.placement, self.metric


@dataclass(frozen=True, kw_only=True)
class Pair(OnAxis):
    """Two hosts of a tournament, or, without an `other`, one host with all its opponents.

    `value` is the geometric mean over launches of the pair's medians over rounds; of a host, that of its pairs' median.
    `factor` is the effect of the host, or of the link between the two: how many times worse than the others, at least
    1 if worse. `verdict`: worse, alike or open.
    """

    arm: str
    unit: str
    x: float
    host: str
    other: str
    value: float
    factor: float | None
    low: float | None
    high: float | None
    p: float | None
    verdict: str
    smallest_effect: float | None
    launches: int
    rounds: int


@dataclass(frozen=True)
class CurveName:
    """The columns that name a curve."""

    experiment: str
    placement: str
    protocol: str
    metric: str
    arm: str


@dataclass(frozen=True, kw_only=True)
class Claim(InPanel):
    """A published claim. `verdict` (docs/data.md, Claim verdicts) has a `reason`."""

    claim: str
    source: str
    quote: str
    locator: str
    url: str
    says: str
    kind: str
    arm: str
    verdict: str
    reason: str
    method: str
    unit: str
    scale: str
    axis_unit: str
    value: float | None
    low: float | None
    high: float | None
    at_least: bool | None
    at_most: bool | None
    x: float | None
    numbers: int
    launches: int
    smallest_effect: float | None
    resolution: float | None
    expected_low: float | None
    expected_high: float | None
    claimed_low: float | None
    claimed_high: float | None
    derived: bool | None
    test: str
    contradicts: list[str] | None
    differs: str
    published: float | None
    own: str
    own_value: float | None
    own_x: float | None
    rows: list[CurveName] | None


@dataclass(frozen=True, kw_only=True)
class Recommendation(Row):
    """A setting and question: the value, its guarantee and gain; or why nothing is recommended."""

    library: str
    setting: str
    about: str
    recommended: bool
    value: object
    """A number or a text."""
    reason: str
    snippet: str
    experiment: str
    placement: str
    protocol: str
    metric: str
    keys: Keys
    unit: str
    better: str
    axis: str
    axis_unit: str
    arm: str
    default: str
    launches: int | None
    x: float | None
    low: float | None
    high: float | None
    guarantee: float | None
    guarantee_of_values: float | None
    gain_low: float | None
    gain_high: float | None
    points: Mapping[str, list[float]] | None

    @property
    def conditions(self) -> dict[str, Any]:
        return {**self.keys, "placement": self.placement}

    @property
    def for_program(self) -> bool:
        """Whether it is the value for a whole program, over all questions."""
        return not self.protocol and self.guarantee is not None


@dataclass(frozen=True, kw_only=True)
class Change(OfArm):
    """An arm and curve that two runs share, without `x`, or a cell of both: the ratio after, over that before."""

    reference: str
    x: float | None
    before: float | None
    after: float | None
    change: float | None
    low: float | None
    high: float | None
    p: float | None
    q: float | None
    verdict: str
    equivalent: bool | None
    within: float | None
    launches_before: int
    launches_after: int


@dataclass(frozen=True, kw_only=True)
class Unpaired(InPanel):
    """A curve, or cell of a curve, that only one of two runs has, or that cannot be compared."""

    arm: str
    x: float | None
    run: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Difference(Row):
    """A fact of software, machine or settings that differs between two runs."""

    kind: str
    name: str
    before: str
    after: str
