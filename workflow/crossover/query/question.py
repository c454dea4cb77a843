"""A question: sizes and durations in words, and the choice of the curves that it is about."""

import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeVar

from crossover.config import tiers
from crossover.design.protocol import KEYS
from crossover.errors import CrossoverError
from crossover.report.text import numbers
from crossover.report.text.tables import telling_keys

Conditions = Mapping[str, Any]
"""The keys of a curve, and its placement."""


class OfCurve(Protocol):
    """What belongs to a curve."""

    @property
    def conditions(self) -> Conditions:
        """The keys and the placement of the curve."""


C = TypeVar("C", bound=OfCurve)

BYTES = {"": 1, "b": 1} | {
    f"{prefix}{infix}b": base**power
    for power, prefix in enumerate("kmgt", 1)
    for infix, base in (("", 1000), ("i", 1024))
}
MICROSECONDS = {"": 1, "ns": 1e-3, "us": 1, "µs": 1, "μs": 1, "ms": 1e3, "s": 1e6, "min": 6e7}
FACTORS: dict[str, Mapping[str, float]] = {
    "bytes": BYTES,
    "µs": MICROSECONDS,
    "s": {"": 1} | {word: factor / 1e6 for word, factor in MICROSECONDS.items() if word},
}
"""For each unit of an axis, the units that a question may use, in lower case, with their size in it."""

ELEMENTS = {"": 1.0, "elements": 1, "element": 1} | {
    word: factor / numbers.UNIT_BYTES["elements"] for word, factor in BYTES.items() if word
}
"""An array's length may be given by its bytes."""

UNITS_OF_KEYS = {"bytes": "bytes", "us": "µs", "seconds": "s"}
"""The unit of a key, by the last word of its name."""

T = TypeVar("T")

TRUTHS = {"true": True, "yes": True, "false": False, "no": False}


def amount(given: object, unit: str) -> float:
    """A positive number in `unit`, from a number or a text; a text without a unit is in `unit` too.

    >>> amount("40 kB", "bytes"), amount("40KiB", "bytes"), amount("1e5", "bytes"), amount(40_000, "bytes")
    (40000.0, 40960.0, 100000.0, 40000.0)
    >>> amount("10ms", "µs"), amount("1 s", "µs"), amount("1,000 elements", "elements"), amount("8 kB", "elements")
    (10000.0, 1000000.0, 1000.0, 1000.0)
    """
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", str(given).strip().lower())
    factors = (FACTORS | {"elements": ELEMENTS}).get(unit, {"": 1, unit: 1, unit.removesuffix("s"): 1})
    found = re.fullmatch(r"(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*([a-zµμ]*)", text)
    if not found or found[3] not in factors:
        examples = {"bytes": "40000, 40kB or 40KiB", "µs": "500, 500us or 10ms", "s": "0.1, 100ms or 1s"}
        raise CrossoverError(f"{given!r} is not an amount in {unit}; write for example {examples.get(unit, '1000')}")
    number = float(f"{found[1]}{found[2] or ''}") * factors[found[3]]
    # Every axis is logarithmic.
    if not 0 < number < float("inf"):
        raise CrossoverError(f"{given!r} is not a positive number; write one")
    return number


def share(given: str) -> float:
    """A share below 1, from a number or per cent.

    >>> share("90%"), share("0.5")
    (0.9, 0.5)
    """
    found = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*(%?)", given.strip())
    number = float(found[1]) / (100 if found[2] else 1) if found else 0.0
    if not 0 < number < 1:
        raise CrossoverError(f"{given!r} is no share between 0 and 1; write for example 90% or 0.9")
    return number


def value_of(key: str, given: object) -> Any:
    """A value of one of KEYS, as its type, from a value or a text; None, also in words, where a curve lacks the key.

    >>> value_of("window_bytes", "64MB"), value_of("legacy", "yes"), value_of("engines", "none")
    (64000000.0, True, None)
    """
    text = str(given)
    if given is None or text.lower() == "none":
        return None
    kind = KEYS[key].kind
    if kind is str:
        return text
    if kind is bool:
        return TRUTHS.get(text.lower(), text)
    return amount(given, UNITS_OF_KEYS.get(key.rpartition("_")[2], key))


def one_of(what: str, wanted: str, available: Iterable[str]) -> str:
    """The `wanted` one, if it is available. Raises CrossoverError otherwise, with all that are."""
    if wanted not in (names := sorted(set(available))):
        raise CrossoverError(f"unknown {what} {wanted!r}; available: {listed(names) or 'none'}")
    return wanted


def arm_of(experiment: str, wanted: str, available: Iterable[str]) -> str:
    """The `wanted` arm, if it is available. Raises CrossoverError otherwise, with what would measure it."""
    if wanted not in (names := set(available)) and (remedy := tiers.measuring(experiment, wanted)):
        raise CrossoverError(f"{quoted(wanted)} has no value here; {remedy}")
    return one_of("arm", wanted, names)


def listed(names: Iterable[str]) -> str:
    """Names in one line, each as a shell needs it."""
    return ", ".join(map(quoted, names))


def quoted(name: str) -> str:
    """A name as a shell needs it; one with a comma is quoted too, so that a list of names stays clear.

    >>> quoted("no-copy"), quoted("C copy"), quoted("chunk 8, lazy"), quoted("a,b")
    ('no-copy', "'C copy'", "'chunk 8, lazy'", "'a,b'")
    """
    return f"'{name}'" if "," in name and shlex.quote(name) == name else shlex.quote(name)


def around(rows: Sequence[T], places: Sequence[float], unit: str, x: float) -> tuple[T, ...]:
    """The row at the point `x` of an axis, or those at the two points around it; none outside the axis.

    `places` are those of the rows on the axis, rising; there is at least one.
    """
    placed = list(zip(places, rows, strict=True))
    near, row = min(placed, key=lambda entry: abs(math.log(entry[0] / x)))
    # Points are rarely round: 31623 B is printed as 31.6 kB, and typed as 31.6kB.
    if near == x or numbers.quantity(near, unit) == numbers.quantity(x, unit):
        return (row,)
    return next(((row, after) for (low, row), (high, after) in pairwise(placed) if low < x < high), ())


def written(x: float, unit: str) -> str:
    """A point of an axis as a question writes it: rounded where it has a unit of its own, as a page prints it.

    >>> written(31622.8, "bytes"), written(10_000, "µs"), written(100_000, "elements"), written(0.5, "µs")
    ('31.6kB', '10ms', '100000', '500ns')
    """
    return numbers.quantity(x, unit).replace(" ", "").replace("µ", "u") if unit in FACTORS else f"{x:.15g}"


def matching(subject: str, rows: Sequence[C], where: Mapping[str, object]) -> list[C]:
    """The rows with all values of `where`, by the names of KEYS and `placement`.

    Raises CrossoverError for an unknown key or value, and if no row has all values; `subject` is the owner of the rows.
    """
    facts = [row.conditions for row in rows]
    wanted = {name: _wanted(subject, name, given, facts) for name, given in where.items()}
    found = [
        row
        for row, own in zip(rows, facts, strict=True)
        if all(own.get(name) == value for name, value in wanted.items())
    ]
    if not found:
        given = " and ".join(f"{name} {word(value)}" for name, value in wanted.items())
        raise CrossoverError(f"no curve of {subject} has {given}; available:{_choices(rows)}")
    return found


def require_single(subject: str, rows: Sequence[OfCurve]) -> None:
    """Raise CrossoverError if there are several rows, with the options that choose each."""
    if len(rows) > 1:
        raise CrossoverError(f"{subject} has {len(rows)} such curves; choose one:{_choices(rows)}")


def _wanted(subject: str, name: str, given: object, facts: Sequence[Conditions]) -> Any:
    """The value of a key that `given` means. Raises CrossoverError if no curve has it."""
    keys = [key for key in (*KEYS, "placement") if any(key in own for own in facts)]
    if name not in keys:
        raise CrossoverError(f"no curve of {subject} has the key {name}; available: {', '.join(keys)}")
    value = str(given) if name == "placement" else value_of(name, given)
    values = {own.get(name) for own in facts}
    if value not in values:
        available = listed(sorted(map(word, values)))
        remedy = tiers.adding(subject, name, value)
        if value == "nodes":
            remedy = "a run on several hosts measures it: snakemake --profile slurm"
        elsewhere = f"; {remedy}" if remedy else ""
        raise CrossoverError(f"no curve of {subject} has {name} {word(given)}; available: {available}{elsewhere}")
    return value


def _choices(rows: Sequence[OfCurve]) -> str:
    """One line for each curve: the options by which it differs from the others."""
    facts = [row.conditions for row in rows]
    telling = telling_keys(facts)
    lines = (" ".join(option(key, own.get(key)) for key in telling) for own in facts)
    return "".join(f"\n    {line}" for line in lines)


def flag(key: str) -> str:
    """The option that is named after a key."""
    return f"--{key.replace('_', '-')}"


def option(key: str, value: object) -> str:
    """The option that chooses the curves with this value of a key."""
    return f"{flag(key)} {quoted(word(value))}"


def word(value: object) -> str:
    """A value as a question writes it.

    >>> word(True), word(None), word(64000000), word("float64 array")
    ('yes', 'none', '64000000', 'float64 array')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.15g}" if isinstance(value, float) else "none" if value is None else str(value)
