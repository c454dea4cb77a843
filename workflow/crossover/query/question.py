"""A question: sizes and durations in words, and the choice of the curves that it is about."""

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeVar

from crossover.config.amount import amount
from crossover.design.protocol import KEYS
from crossover.errors import CrossoverError
from crossover.report.text import numbers

Conditions = Mapping[str, Any]
"""The keys of a curve, and its placement."""


class OfCurve(Protocol):
    """What belongs to a curve."""

    @property
    def conditions(self) -> Conditions:
        """The keys and the placement of the curve."""


C = TypeVar("C", bound=OfCurve)

UNITS_OF_KEYS = {"bytes": "bytes", "us": "µs", "seconds": "s"}
"""The unit of a key, by the last word of its name."""

T = TypeVar("T")

TRUTHS = {"true": True, "yes": True, "false": False, "no": False}


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
        raise CrossoverError(f"no curve of {subject} has {given} together")
    return found


def _wanted(subject: str, name: str, given: object, facts: Sequence[Conditions]) -> Any:
    """The value of a key that `given` means. Raises CrossoverError if no curve has it."""
    keys = [key for key in (*KEYS, "placement") if any(key in own for own in facts)]
    value = str(given).lower() if name == "placement" else value_of(name, given)
    if value is not None and name not in keys:
        raise CrossoverError(f"no curve of {subject} has the key {name}; available: {', '.join(keys)}")
    values = {own.get(name) for own in facts}
    if isinstance(value, str):
        value = next((own for own in values if str(own).lower() == value.lower()), value)
    if value not in values:
        available = listed(sorted(map(word, values)))
        elsewhere = "; a run on several hosts measures it: snakemake --profile slurm" if value == "nodes" else ""
        raise CrossoverError(f"no curve of {subject} has {name} {word(given)}; available: {available}{elsewhere}")
    return value


def word(value: object) -> str:
    """A value as a question writes it.

    >>> word(True), word(None), word(64000000), word("float64 array")
    ('yes', 'none', '64000000', 'float64 array')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.15g}" if isinstance(value, float) else "none" if value is None else str(value)
