"""Reads the published claims from `config/claims.yaml`; checks them, their sources and the curves that they name."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from annotated_types import Gt, Lt, MinLen
from pydantic import Field

from crossover.config import sources, yaml_file
from crossover.config.sources import Text
from crossover.design.experiments import ANY, declared
from crossover.design.protocol import KEYS, Keys
from crossover.paths import CONFIG

FILE = CONFIG / "claims.yaml"

Placement = Literal["node", "process", "nodes"]
Positive = Annotated[float, Gt(0)]


ABSENT: Any = None
"""The default of a key that a claim need not have; a kind of quantity that needs it is refused without."""


class Kind(NamedTuple):
    """A kind of quantity: the keys that it needs beside its curve, and the keys of which it needs exactly one."""

    means: str
    needs: Sequence[str] = ()
    one_of: Sequence[str] = ()


READINGS = ("at", "each", "mean", "slope", "peak")

KINDS = {
    "value": Kind("The arm's own value.", one_of=READINGS),
    "ratio": Kind("The arm's value divided by another's.", ["over"], READINGS),
    "contrast": Kind("One ratio divided by another, of another experiment or metric.", ["over", "against", "at"]),
    "time": Kind("The time of one repetition in µs, from a rate.", one_of=["at", "each", "mean", "peak"]),
    "crossover": Kind("The point of the axis where the arm starts to beat the other.", ["over"]),
    "crossovers": Kind("One crossover divided by another.", ["over", "against"]),
    "loss": Kind(
        "The loss at each point if the arm is used from `threshold` on and the other below: the better value divided "
        "by the chosen one's.",
        ["over", "threshold"],
    ),
    "saturation": Kind(
        "The first point at which the arm's rate times the axis reaches a share of its maximum.", ["share"]
    ),
    "scaling": Kind(
        "The arm's value at one point divided by its value at another, possibly from other launches.", ["from", "to"]
    ),
}

OF_RATES = ("time", "saturation")
"""The kinds of quantities that take a rate."""


@dataclass(frozen=True)
class Part:
    """A part of the axis: from one end to the other, or only these points of it; each is optional."""

    __pydantic_config__ = yaml_file.STRICT
    start: Annotated[float | None, Field(alias="from")] = None
    end: Annotated[float | None, Field(alias="to")] = None
    points: Annotated[list[float], MinLen(1)] | None = None


@dataclass(frozen=True, kw_only=True)
class Side:
    """The keys in which the curve of another quantity differs; its divisor and its point of the axis too."""

    __pydantic_config__ = yaml_file.STRICT
    experiment: str | None = None
    placement: Placement | None = None
    where: Keys | None = None
    metric: str | None = None
    arm: str | None = None
    over: str | None = None
    at: float | None = None


Over = str | Annotated[list[str], MinLen(1)] | Side


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A number that is computed from measured curves."""

    __pydantic_config__ = yaml_file.STRICT
    kind: Literal[tuple(KINDS)]  # type: ignore[valid-type]
    experiment: str
    placement: Placement = "node"
    where: Keys
    """Keys of the curve (docs/data.md), each with its value: the conditions of the source."""
    metric: str
    arm: str
    over: Over = ABSENT
    """The divisor: another arm; or a list of arms, each compared; or the keys in which another curve differs."""
    against: Side = ABSENT
    """The second of two quantities."""
    at: float | None = None
    """At this point of the axis, interpolated between the neighbouring measured points."""
    each: Part | None = None
    """At each measured point of this part of the axis; the claim must hold at all of them."""
    mean: Part = ABSENT
    """The geometric mean over this part of the axis."""
    slope: Part | None = None
    """The exponent of the power law that the curve follows in this part of the axis."""
    peak: Part | None = None
    """The largest value in this part of the axis."""
    threshold: Positive = ABSENT
    share: Annotated[float, Gt(0), Lt(1)] = ABSENT
    start: Annotated[float, Field(alias="from")] = ABSENT
    end: Annotated[float, Field(alias="to")] = ABSENT

    def changed(self, change: Over | None) -> "Quantity":
        """The quantity of another arm, or with other names and keys."""
        keys: dict[str, Any] = {"arm": change} if isinstance(change, str) else {}
        keys |= vars(change) if isinstance(change, Side) else {}
        return replace(self, **{key: value for key, value in keys.items() if value is not None})


@dataclass(frozen=True)
class Ends:
    """A range of numbers; an end is None if it is open."""

    __pydantic_config__ = yaml_file.STRICT
    low: Positive | None = None
    high: Positive | None = None


@dataclass(frozen=True, kw_only=True)
class Expected:
    """The range of a quantity if the claim holds, ends included."""

    __pydantic_config__ = yaml_file.STRICT
    about: Positive | Ends | None = None
    """The number or range of the document, which says "about": this widens each end."""
    gain: Positive | Ends | None = None
    """How far a ratio exceeds one; "about" applies to the gain."""
    within: Positive | None = None
    """A fraction; this is a test of equivalence with 1."""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence of a document."""

    __pydantic_config__ = yaml_file.STRICT
    source: str
    """The citation key of the document in config/sources.yaml."""
    quote: Text
    """The document's exact words, as few as carry the claim."""
    locator: Text
    """Their place in the document: section, cell or message."""
    says: Text
    """The claim in our own words, a whole sentence."""
    name: str = ""

    @property
    def columns(self) -> dict[str, str]:
        """The columns of the sentence in the table of claims."""
        words = {key: getattr(self, key) for key in ("source", "quote", "locator", "says")}
        return {"claim": self.name, "url": sources.read()[self.source].url, **words}


@dataclass(frozen=True, kw_only=True)
class Unjudged(Sentence):
    """A claim that no measurement here can decide."""

    reason: Text
    """Why not, and what would decide it; a clause without a full stop."""


@dataclass(frozen=True, kw_only=True)
class Claim(Sentence):
    """A claim that a quantity decides."""

    quantity: Quantity
    expected: Expected
    test: Text | None = None
    """The tested statement, if it differs from the document's; a whole sentence."""
    unlike: Text | None = None
    """A condition that the sentence excludes: the number is shown, and no verdict is given; a clause without a full
    stop."""
    contradicts: Annotated[list[str], MinLen(1)] | tuple[()] = ()
    """Claims that cannot hold on a machine where this one does."""
    derived: bool = False
    """Whether the claimed number is computed from numbers of the document, instead of stated there."""
    factor: float = 1.0
    """The factor of "about"."""

    @property
    def claimed(self) -> tuple[float | None, float | None]:
        """The ends of the document's own range, if it gives one "about"; an end is None if it is open."""
        base, low, high = self._stated
        return low and base + low, high and base + high

    @property
    def published(self) -> float | None:
        """The single number of the document, if it gives one "about"."""
        return self.claimed[0] if self.claimed[0] == self.claimed[1] else None

    @property
    def range(self) -> tuple[float, float]:
        """The expected range; a missing end is infinite."""
        expected = self.expected
        if expected.within is not None:
            return 1 / (1 + expected.within), 1 + expected.within
        base, low, high = self._stated
        return (
            base + low / self.factor if low else -math.inf if expected.low is None else expected.low,
            base + high * self.factor if high else math.inf if expected.high is None else expected.high,
        )

    @property
    def _stated(self) -> tuple[int, float | None, float | None]:
        """What gains are added to, and the ends that are stated of the quantity or the gain."""
        stated = self.expected.about or self.expected.gain
        ends = (stated.low, stated.high) if isinstance(stated, Ends) else (stated, stated)
        return 0 if self.expected.gain is None else 1, *ends


@dataclass(frozen=True, kw_only=True)
class _File:
    __pydantic_config__ = yaml_file.STRICT
    about: Annotated[float, Gt(1)]
    """A number that is claimed as "about" is meant within this factor."""
    claims: Annotated[Mapping[str, Claim], MinLen(1)]
    unjudged: Mapping[str, Unjudged] = field(default_factory=dict)


def read(file: str | Path = FILE, entrants: Iterable[str] = ()) -> list[Claim]:
    """Every claim. `entrants` are the names of all task farms; without them, those in claims are not checked.

    Raises CrossoverError with every fault, each with the file and the key: also for claims about curves that no
    experiment measures, with the available names.
    """
    content = _checked(file, entrants)
    return [replace(claim, name=name, factor=content.about) for name, claim in content.claims.items()]


def unjudged(file: str | Path = FILE) -> list[Unjudged]:
    """Claims that no measurement here can decide. Raises CrossoverError as `read`."""
    return [replace(claim, name=name) for name, claim in _checked(file).unjudged.items()]


def _checked(file: str | Path, entrants: Iterable[str] = ()) -> _File:
    content: _File = yaml_file.validated(_File, yaml_file.read_yaml(file), file)
    yaml_file.refuse(f"{file}: {fault}" for fault in _faults(content, tuple(entrants)))
    return content


def _faults(content: _File, entrants: Sequence[str]) -> Iterator[str]:
    """Faults beyond types: unknown sources and curves, contradictions, keys that exclude each other."""
    for part, claims in (("claims", content.claims), ("unjudged", content.unjudged)):
        for name, claim in claims.items():
            yield from (f"{part}.{name}.{fault}" for fault in sources.unknown(claim.source))
    for name in content.claims.keys() & content.unjudged.keys():
        yield f"unjudged.{name}: is listed under `claims` too; remove it from one of the two"
    for name, claim in content.claims.items():
        where = f"claims.{name}"
        for other in claim.contradicts:
            if other not in content.claims:
                yield _unknown(f"{where}.contradicts", other, content.claims)
        yield from (f"{where}.quantity.{fault}" for fault in _misfits(claim.quantity, entrants))
        expected = claim.expected
        keys = {key for key, value in vars(expected).items() if value is not None}
        if keys != {"low", "high"} and len(keys) != 1:
            here = " and ".join(sorted(keys)) or "none"
            yield f"{where}.expected: give low, high or both, or about, or gain, or within; here is {here}"
        ends = next((ends for ends in (expected.about, expected.gain) if isinstance(ends, Ends)), expected)
        if ends.low is not None and ends.high is not None and ends.low >= ends.high:
            yield f"{where}.expected: low ({ends.low:g}) must be less than high ({ends.high:g})"


def _misfits(quantity: Quantity, entrants: Sequence[str]) -> Iterator[str]:
    """Faults in the keys of a quantity's kind, and in the curves of the quantity and of those that it names."""
    kind = KINDS[quantity.kind]
    names = {"start": "from", "end": "to"}
    keys = [names.get(key, key) for key, value in vars(quantity).items() if value is not None]
    yield from (f"{key}: is missing; a {quantity.kind} needs it" for key in kind.needs if key not in keys)
    takes = (*kind.needs, *kind.one_of)
    yield from (
        f"{key}: has no meaning for a {quantity.kind}, which takes {', '.join(takes)}"
        for key in keys
        if key not in (*takes, "kind", "experiment", "placement", "where", "metric", "arm")
    )
    chosen = [key for key in kind.one_of if key in keys]
    if kind.one_of and len(chosen) != 1:
        here = ", ".join(chosen) or "none"
        yield f"kind: a {quantity.kind} needs exactly one of {', '.join(kind.one_of)}; here is {here}"
    yield from _unmeasured(quantity, entrants, "")
    for key in ("against", "over"):
        if isinstance(side := getattr(quantity, key), Side):
            yield from _unmeasured(quantity.changed(side), entrants, f"{key}.")


def _unmeasured(part: Quantity, entrants: Sequence[str], where: str) -> Iterator[str]:
    if part.experiment not in declared():
        yield _unknown(f"{where}experiment", part.experiment, declared())
        return
    experiment = declared()[part.experiment]
    arms = (*experiment.names("arms"), *experiment.names("ceilings")) or entrants
    metrics = tuple(metric.name for metric in experiment.metrics)
    known = {
        "placement": experiment.names("placements"),
        "metric": metrics,
        **dict.fromkeys(("arm", "over"), arms),
    }
    for key, available in known.items():
        named = getattr(part, key)
        for name in [named] if isinstance(named, str) else named if isinstance(named, list) else []:
            if available and name not in available:
                yield _unknown(f"{where}{key}", name, available)
    times = [metric.name for metric in experiment.metrics if metric.unit == "s"]
    if part.kind in OF_RATES and part.metric in times:
        yield f"{where}metric: '{part.metric}' is a time already, but kind '{part.kind}' takes a rate"
    yield from strangers(part.where, experiment.keys, f"{where}where")


def strangers(where: Keys, known: Mapping[str, Any], prefix: str = "where") -> Iterator[str]:
    """Faults in the keys that select curves; the curves have the keys `known`."""
    for name, value in where.items():
        if name not in known:
            yield _unknown(prefix, name, known)
        elif known[name] == ANY:
            kinds: tuple[type, ...] = (int, float) if KEYS[name].kind is float else (KEYS[name].kind,)
            if type(value) not in kinds:
                yield f"{prefix}.{name}: {value!r} is not of type {KEYS[name].kind.__name__}"
        elif (type(value), value) not in [(type(choice), choice) for choice in known[name]]:
            named = (choice if isinstance(choice, str) else json.dumps(choice) for choice in known[name])
            yield _unknown(f"{prefix}.{name}", value, named)


def _unknown(key: str, name: Any, available: Iterable[str]) -> str:
    return f"{key}: {name!r} does not exist; available: {', '.join(available)}"
