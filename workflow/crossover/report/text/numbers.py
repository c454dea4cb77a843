"""Numbers for readers: two or three significant digits, a unit, an interval in brackets."""

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import groupby

PREFIXES = {-9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}
SCALED_UNITS = {"bytes": "B", "s": "s"}
"""Units that take a prefix, with their symbols. All others are written in full."""
PREFIXED_UNITS = {"µs": (1e-6, "s")}
"""Units that already have a prefix: the factor that removes it, and the unit without."""


def significant(value: float, digits: int = 3) -> str:
    """Round `value` to significant digits, with separated thousands and without exponents.

    >>> significant(1.2849), significant(45678), significant(0.00071234, 2), significant(2.0)
    ('1.28', '45,700', '0.00071', '2.00')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    rounded = Decimal(f"{value:.{digits - 1}e}")
    decimals = max(0, digits - 1 - rounded.adjusted())
    return f"{rounded:,.{decimals}f}"


def quantity(value: float, unit: str, digits: int = 3) -> str:
    """A value with its unit; bytes and seconds get a decimal prefix, whole counts keep every digit.

    >>> quantity(4640, "bytes"), quantity(100, "bytes"), quantity(1.23e-5, "s"), quantity(1, "tasks")
    ('4.64 kB', '100 B', '12.3 µs', '1 task')
    >>> quantity(1024, "tasks"), quantity(1024.4, "tasks"), quantity(1024, "tasks/s")
    ('1,024 tasks', '1,020 tasks', '1,020 tasks/s')
    >>> quantity(100, "µs"), quantity(31623, "µs"), quantity(0.958, "")
    ('100 µs', '31.6 ms', '0.958')
    """
    factor, unit = PREFIXED_UNITS.get(unit, (1, unit))
    return _with_prefix(value * factor, unit, _power(value * factor, unit, digits), digits)


def typed(x: float, unit: str) -> str:
    """A point of an axis as a question writes it: rounded where it has a unit of its own, as a page prints it.

    >>> typed(31622.8, "bytes"), typed(10_000, "µs"), typed(100_000, "elements"), typed(0.5, "µs")
    ('31.6kB', '10ms', '100000', '500ns')
    """
    scaled = unit in SCALED_UNITS or unit in PREFIXED_UNITS
    return quantity(x, unit).replace(" ", "").replace("µ", "u") if scaled else f"{x:.15g}"


def _power(value: float, unit: str, digits: int) -> int:
    """The power of ten, one of PREFIXES, with which a value is written; 0 in a unit that takes no prefix."""
    if unit not in SCALED_UNITS or not 0 < value < math.inf:
        return 0
    # Rounding first, so that 999.9 becomes 1 k and not 1,000.
    exponent = Decimal(f"{value:.{digits - 1}e}").adjusted()
    return min(max(3 * (exponent // 3), 0 if unit == "bytes" else min(PREFIXES)), max(PREFIXES))


def _with_prefix(value: float, unit: str, power: int, digits: int) -> str:
    """A value with its unit, in which the prefix stands for this power of ten."""
    if unit in SCALED_UNITS:
        return f"{_plain(value / 10**power, digits)} {PREFIXES[power]}{SCALED_UNITS[unit]}"
    count = "/" not in unit and unit != "" and float(value).is_integer()
    number = f"{value:,.0f}" if count else _plain(value, digits)
    return f"{number} {unit[:-1] if number == '1' and unit.endswith('s') else unit}".strip()


def interval(value: float, low: float | None, high: float | None, unit: str, digits: int = 3) -> str:
    """The interval of a value in brackets, both ends in the unit that `quantity` gives the value; an unknown end is
    open. Empty without any end.

    >>> interval(0.0123, 0.0009, 0.014, "s"), interval(900, 800, 1200, "bytes"), interval(1.2e4, 9300, None, "bytes", 2)
    ('[0.9, 14 ms]', '[800, 1,200 B]', '[9.3 kB, open]')
    >>> interval(31623, 900, 1.2e6, "µs"), interval(8, 1, 32, "tasks"), interval(0.958, 0.9, 0.97, "")
    ('[0.9, 1,200 ms]', '[1, 32 tasks]', '[0.9, 0.97]')
    >>> interval(1, None, 1, "elements"), interval(1, None, None, "s")
    ('[open, 1 element]', '')
    """
    if low is None and high is None:
        return ""
    factor, unit = PREFIXED_UNITS.get(unit, (1, unit))
    power = _power(value * factor, unit, digits)
    first, last = ("open" if end is None else _with_prefix(end * factor, unit, power, digits) for end in (low, high))
    return f"[{first if high is None else first.split()[0]}, {last}]"


def _plain(value: float, digits: int) -> str:
    """Significant digits without trailing zeros: `100`, not `100.0` or `1e2`."""
    text = significant(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def ratio(value: float, low: float | None, high: float | None) -> str:
    """A ratio and its interval, with as many decimals as the interval deserves.

    >>> ratio(1.2912, 1.2498, 1.3401), ratio(1.3, None, None)
    ('1.29 [1.25, 1.34]', '1.30')
    """
    if low is None or high is None:
        return significant(value)
    return f"{significant(value)} [{significant(low)}, {significant(high)}]"


def position(value: float, low: float | None, high: float | None, unit: str) -> str:
    """A point of the axis and its interval, unless that is too narrow to show; an unknown end is open.

    >>> position(4640, 4100, None, "bytes")
    '4.6 kB [4.1 kB, open]'
    >>> position(33.1, 33.0, 33.2, "bytes")
    '33 B'
    """
    here = quantity(value, unit, 2)
    if low is None and high is None:
        return f"{here} (no interval)"
    if low is not None and high is not None and {quantity(end, unit, 2) for end in (low, high)} == {here}:
        return here
    return f"{here} {interval(value, low, high, unit, 2)}"


def bracket(low: float | None, high: float | None, unit: str) -> str:
    """The measured points around a point of the axis.

    >>> bracket(1000, 10000, "bytes"), bracket(None, 10000, "bytes")
    ('1 kB to 10 kB', '–')
    """
    return "–" if low is None or high is None else f"{quantity(low, unit)} to {quantity(high, unit)}"


def between(low: float, high: float, unit: str) -> str:
    """The part of an axis in which a point lies, to two digits; one number if its ends are equal so.

    >>> between(12000, 60000, "bytes"), between(340, 1200, "bytes"), between(1001, 1002, "bytes")
    ('between 12 and 60 kB', 'between 340 B and 1.2 kB', '1 kB')
    """
    first, last = _ends(low, high, unit)
    return last if first == last else f"between {first} and {last}"


def span(low: float, high: float, unit: str) -> str:
    """An interval in a sentence, to two digits.

    >>> span(12000, 60000, "bytes"), span(340, 1200, "bytes"), span(8, 8, "tasks")
    ('12–60 kB', '340 B–1.2 kB', '8 tasks')
    """
    return "–".join(dict.fromkeys(_ends(low, high, unit)))


def _ends(low: float, high: float, unit: str) -> tuple[str, str]:
    """Two places to two digits, the first without a unit that both share."""
    first, last = quantity(low, unit, 2), quantity(high, unit, 2)
    number, _, prefix = first.partition(" ")
    return number if first != last and last.endswith(f" {prefix}") else first, last


def runs(own: Iterable[float], everywhere: Iterable[float], unit: str) -> str:
    """Some points of the axis, as runs of neighbours among all measured ones.

    >>> runs([10, 100, 10000], [10, 100, 1000, 10000], "bytes")
    '10 B to 100 B and 10 kB'
    >>> runs([8, 32], [8, 32, 128], "tasks")
    '8 to 32 tasks'
    """
    places = set(own)
    found = [list(run) for is_own, run in groupby(sorted(everywhere), places.__contains__) if is_own]
    ends = [(quantity(run[0], unit), quantity(run[-1], unit)) for run in found]
    scaled = unit in SCALED_UNITS or unit in PREFIXED_UNITS
    return listed(
        [last if first == last else f"{first if scaled else first.split()[0]} to {last}" for first, last in ends]
    )


def duration(seconds: float) -> str:
    """A duration in the usual units.

    >>> duration(9.64), duration(59.7), duration(3725), duration(5400)
    ('9.6 s', '1 min', '1 h 2 min', '1 h 30 min')
    """
    if seconds < 59.5:
        return quantity(seconds, "s", 2)
    minutes, rest_seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "min"), (0 if hours else rest_seconds, "s"))
    return " ".join(f"{count:,} {unit}" for count, unit in parts if count)


def percent(fraction: float, digits: int = 2) -> str:
    """A fraction as per cent.

    >>> percent(0.0234), percent(0.5)
    ('2.3 %', '50 %')
    """
    return f"{_plain(100 * fraction, digits)} %"


def comparatives(unit: str) -> tuple[str, str]:
    """The words for better and worse values of a unit; times and rates have their own.

    >>> comparatives("s"), comparatives("messages/s"), comparatives("MB")
    (('faster', 'slower'), ('faster', 'slower'), ('better', 'worse'))
    """
    return ("faster", "slower") if unit == "s" or unit.endswith("/s") else ("better", "worse")


def counted(count: int, noun: str) -> str:
    """A count with its noun in the right number.

    >>> counted(1, "launch"), counted(3, "launch"), counted(2, "point")
    ('1 launch', '3 launches', '2 points')
    """
    ending = "" if count == 1 else "es" if noun.endswith(("ch", "sh", "s")) else "s"
    return f"{count:,} {noun}{ending}"


def tally(kinds: Sequence[str], words: Mapping[str, tuple[str, str]]) -> str:
    """The number of each kind, in the order of `words`, which has a predicate for one and for several.

    >>> tally(["a", "b", "a"], {"b": ("is odd", "are odd"), "a": ("is even", "are even")})
    '1 is odd and 2 are even'
    """
    counts = [(kinds.count(kind), predicates) for kind, predicates in words.items()]
    return listed([f"{count} {one if count == 1 else several}" for count, (one, several) in counts if count])


def listed(items: list[str], word: str = "and") -> str:
    """Items as an English list; `word` stands before the last.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return f" {word} ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))
