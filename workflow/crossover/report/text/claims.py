"""Published claims and documents: the number of claims of each verdict, their table, citations."""

import re
from collections.abc import Mapping, Sequence

from crossover.config import sources
from crossover.design.settings import TIERS
from crossover.records.rows import Claim
from crossover.report.text import markup, numbers
from crossover.report.text.tables import slug

VERDICTS = {
    "holds": ("holds", "hold"),
    "larger here": ("is larger here", "are larger here"),
    "smaller here": ("is smaller here", "are smaller here"),
    "contradicted": ("is contradicted", "are contradicted"),
    "open": ("is open", "are open"),
    "not comparable here": ("is not comparable here", "are not comparable here"),
    "not measured": ("was not measured", "were not measured"),
}
"""Each verdict as predicate, for one claim and for several."""

DECIDED = ("holds", "larger here", "smaller here", "contradicted")
MISSING = "not measured"
OWN = {"agrees": "the source's own data agrees", "contradicts": "the source's own data contradicts it"}


def counts(claims: Sequence[Claim]) -> str:
    """The number of claims of each verdict, and of those that the source's data contradicts."""
    if not claims:
        return "No claim was judged."
    tally = numbers.tally([row.verdict for row in claims], VERDICTS)
    said = f"Of {numbers.counted(len(claims), 'published claim')} {tally}."
    with_data = [row.own for row in claims if row.own in OWN]
    if with_data:
        wrong = with_data.count("contradicts")
        be = "is" if wrong == 1 else "are"
        said += f" Of {len(with_data)} whose source has data of its own, {wrong} {be} contradicted by that data."
    return said


def table(claims: Sequence[Claim]) -> str:
    """A row for each claim that was measured: its name, with a link to the document, the source, the verdict, the
    number or the reason. Those that were not measured are counted, with the tier that measures the most."""
    lines = [
        {
            "claim": f"[`{row.claim}`]{_link(row)}{{#{address(row)}}}: {row.says.strip()}",
            **{"source": authors(row.source), "verdict": row.verdict, "here": _here(row)},
        }
        for row in claims
        if row.verdict != MISSING
    ]
    missing = [row for row in claims if row.verdict == MISSING]
    higher = sum(row.experiment != "" for row in missing)
    told = f"{numbers.counted(len(missing), 'claim')} {'was' if len(missing) == 1 else 'were'} not measured"
    told += f"; tier `{TIERS[-1]}` measures up to {higher} of them, some only on several hosts." if higher else "."
    return "\n\n".join([*filter(None, [markup.table(lines)]), *[told] * bool(missing)])


def _here(row: Claim) -> str:
    """The measured and the expected number, and the source's own; for other claims the reason."""
    if row.verdict not in DECIDED:
        return row.reason
    unlike = f"not as in the document: {row.differs}" if row.differs else ""
    number = f"{measured(row) or 'none'}{_where(row)}; expected {expected(row)}"
    return "; ".join(filter(None, [number, unlike, _otherwise(row)]))


def address(row: Claim) -> str:
    """The address of a claim's words."""
    return slug(f"claim {row.claim}")


def _link(row: Claim) -> str:
    """The address of the claim's document in brackets; empty without a web address."""
    # Tables can come from anybody, and a link can hold a script.
    return f"({row.url})" if re.fullmatch(r"https?://[^\s()<>]+", row.url or "") else ""


def measured(row: Claim) -> str:
    """The number behind a verdict with its interval; empty without one."""
    if row.value is None:
        return ""
    bounds = {(True, False): "at least ", (False, True): "at most "}
    bound = bounds.get((bool(row.at_least), bool(row.at_most)), "")
    texts = [_number(number, row) for number in (row.value, row.low, row.high) if number is not None]
    if len(texts) < 3:
        return f"{bound}{texts[0]}{_times(row)}"
    (value, *ends), unit = _shared_unit(texts)
    return f"{bound}{value} [{', '.join(ends)}]{unit}{_times(row)}"


def _shared_unit(texts: Sequence[str]) -> tuple[list[str], str]:
    """The numbers without their unit, and the unit after a space, if all have the same; otherwise as they are."""
    units = {text.partition(" ")[2] for text in texts}
    if len(units) > 1 or units == {""}:
        return [*texts], ""
    return [text.partition(" ")[0] for text in texts], f" {units.pop()}"


def _number(value: float, row: Claim) -> str:
    """A number in the unit of the claim's quantity; the unit `times` follows after the interval."""
    unit = row.unit or ""
    if unit in ("", "µs", "times"):
        return f"{numbers.significant(value)} {'' if unit == 'times' else unit}".strip()
    return numbers.quantity(value, unit)


def expected(row: Claim) -> str:
    """The range that a claim predicts."""
    low, high = (end if end is None else _number(end, row) for end in (row.expected_low, row.expected_high))
    if low and high:
        ends, unit = _shared_unit([low, high])
        return f"{' to '.join(ends)}{unit}{_times(row)}"
    return f"at most {high}{_times(row)}" if high else f"at least {low}{_times(row)}" if low else "–"


def _where(row: Claim) -> str:
    """The point and the arm of the number, if there are several."""
    against = f" against `{row.arm}`" if row.arm else ""
    if row.numbers < 2:
        return against
    place = f" at {numbers.quantity(row.x, row.axis_unit or '')}" if row.x is not None else ""
    return f"{place}{against}, the least favourable of {numbers.counted(row.numbers, 'number')}"


def _otherwise(row: Claim) -> str:
    """Whether the source's own data agrees with its claim."""
    if row.own not in OWN or row.own_value is None:
        return ""
    place = f" at {numbers.quantity(row.own_x, row.axis_unit or '')}" if row.own_x and row.numbers > 1 else ""
    return f"{OWN[row.own]}: {_number(row.own_value, row)}{_times(row)}{place}"


def _times(row: Claim) -> str:
    return " times" if row.unit == "times" else ""


def authors(key: str) -> str:
    """A document as part of a sentence: its authors, with the year in brackets."""
    return f"@{key}" if key in sources.read() else markup.verbatim(key)


def quoted(quote: str, locator: str) -> str:
    """A document's exact words, without the addresses of its links, and their place in it."""
    words = re.sub(r"\[([^]]*)\]\(\S*?\)", r"\1", quote)
    return f"“{markup.verbatim(words)}” ({markup.verbatim(locator)})"


def measured_under(values: Mapping[str, str]) -> str:
    """Conditions in words, without those that do not apply."""
    return "; ".join(
        f"{name} {markup.verbatim(value)}" if value != sources.NOT_STATED else f"{name} not stated"
        for name, value in values.items()
        if value != sources.INAPPLICABLE
    )
