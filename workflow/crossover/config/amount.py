"""Amounts in words: sizes and durations of an axis, and shares."""

import re
from collections.abc import Mapping

from crossover.errors import CrossoverError

UNIT_BYTES = {"bytes": 1, "elements": 8}
"""The bytes of one unit of an axis of sizes; elements are float64."""

THOUSANDS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9}
BYTES = {**THOUSANDS, "b": 1, "byte": 1, "bytes": 1, **dict.fromkeys(("double", "doubles", "floats"), 8)} | {
    f"{prefix}{infix}b": base**power
    for power, prefix in enumerate("kmgt", 1)
    for infix, base in (("", 1000), ("i", 1024))
}
MICROSECONDS = {"": 1, "ns": 1e-3, "us": 1, "µs": 1, "μs": 1, "ms": 1e3, "s": 1e6, "seconds": 1e6, "min": 6e7}
FACTORS: dict[str, Mapping[str, float]] = {
    "bytes": BYTES,
    "µs": MICROSECONDS,
    "s": {"": 1} | {word: factor / 1e6 for word, factor in MICROSECONDS.items() if word},
}
"""For each unit of an axis, the units that a question may use, in lower case, with their size in it."""

ELEMENTS = {"": 1.0, "elements": 1, "element": 1} | {
    word: factor / UNIT_BYTES["elements"] for word, factor in BYTES.items() if word
}
"""An array's length may be given by its bytes."""

COUNTS = ("tasks", "messages", "engines", "items")
"""Units of axes that count."""


def amount(given: object, unit: str) -> float:
    """A positive number in `unit`, from a number or a text; a text without a unit is in `unit` too.

    >>> amount("40 kB", "bytes"), amount("40KiB", "bytes"), amount("1e5", "bytes"), amount(40_000, "bytes")
    (40000.0, 40960.0, 100000.0, 40000.0)
    >>> amount("10ms", "µs"), amount("1 s", "µs"), amount("1,000 elements", "elements"), amount("8 kB", "elements")
    (10000.0, 1000000.0, 1000.0, 1000.0)
    """
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", str(given).strip().lower())
    factors = (FACTORS | {"elements": ELEMENTS}).get(unit) or {
        f"{thousand}{word}": factor
        for thousand, factor in THOUSANDS.items()
        for word in ("", unit, unit.removesuffix("s"))
    }
    found = re.fullmatch(r"(\d+\.?\d*|\.\d+)(e[+-]?\d+)?([a-zµμ]*)", re.sub(r"\s+(?=[a-zµμ])", "", text))
    if not found or found[3] not in factors:
        examples = {"bytes": "40000, 40kB or 40KiB", "µs": "500, 500us or 10ms", "s": "0.1, 100ms or 1s"}
        raise CrossoverError(f"{given!r} is not an amount in {unit}; write for example {examples.get(unit, '1000')}")
    number = float(f"{found[1]}{found[2] or ''}") * factors[found[3]]
    # Every axis is logarithmic.
    if not 0 < number < float("inf"):
        raise CrossoverError(f"{given!r} is not a positive number; write one")
    return number


def fits(given: object, unit: str) -> bool:
    """Whether `given` is an amount in `unit`."""
    try:
        amount(given, unit)
    except CrossoverError:
        return False
    return True


def is_unit(word: str) -> bool:
    """Whether a question may write a point of an axis in this unit."""
    plain = word.lower()
    return plain in ELEMENTS or plain in MICROSECONDS or plain in COUNTS or f"{plain}s" in COUNTS


def share(given: str) -> float:
    """The share that per cent stand for. Raises CrossoverError for one that is not between 0 and 1.

    >>> share("90%")
    0.9
    """
    number = float(given.removesuffix("%").replace(",", "")) / 100
    if not 0 < number < 1:
        raise CrossoverError(f"{given!r} is no share between 0 and 1; write for example 90%")
    return number
