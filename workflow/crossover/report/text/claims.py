"""Published claims and documents: the number of claims of each verdict, a paragraph for each source, citations."""

import re
from collections.abc import Mapping, Sequence

from crossover.config import sources
from crossover.records.rows import Claim
from crossover.report.text import markup, numbers
from crossover.report.text.tables import grouped, slug

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
OWN = {"agrees": "The source's own data agrees", "contradicts": "The source's own data contradicts it"}


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


def paragraphs(claims: Sequence[Claim]) -> list[str]:
    """A heading for each source, and under it an item for each of its decided claims; all others as a table."""
    decided = [row for row in claims if row.verdict in DECIDED]
    told = [
        "\n".join([_document(source), "", *(f"- {sentences(row)}" for row in rows)])
        for (source,), rows in grouped(decided, "source").items()
    ]
    rest = [
        {
            "claim": f"[`{row.claim}`]{_link(row)}{{#{address(row)}}}",
            **{"source": authors(row.source), "verdict": row.verdict, "why": row.reason},
        }
        for row in claims
        if row.verdict not in DECIDED
    ]
    return [*told, markup.table(rest)] if rest else told


def address(row: Claim) -> str:
    """The address of a claim's words."""
    return slug(f"claim {row.claim}")


def sentences(row: Claim) -> str:
    """A decided claim: its source's words, the verdict with the expected and the measured number, and the source's own
    data."""
    place, link = markup.verbatim(row.locator), _link(row)
    quoted = f"“{markup.verbatim(row.quote.strip())}” ({f'[{place}]{link}' if link else place})"
    head = f"[`{row.claim}`]{{#{address(row)}}}: *{row.says.strip()}* In its words: {quoted}."
    number = f"measured: {measured(row) or 'none'}{_where(row)}"
    found = f"**{row.verdict.capitalize()}**: {_claimed(row)}{expected(row)}; {number}."
    unlike = f"Not as in the document: {row.differs}." if row.differs else ""
    return " ".join(filter(None, [head, found, unlike, _otherwise(row)]))


def _link(row: Claim) -> str:
    """The address of the claim's document in brackets; empty without a web address."""
    # Tables can come from anybody, and a link can hold a script.
    return f"({row.url})" if re.fullmatch(r"https?://[^\s()<>]+", row.url or "") else ""


def _claimed(row: Claim) -> str:
    """The document's own number or range, before the range as which it is read."""
    low, high = (None if end is None else _number(end, row) for end in (row.claimed_low, row.claimed_high))
    if low is None and high is None:
        return "Expected: "
    words = low if low == high else f"{low} to {high}" if low and high else f"{low or high}"
    side = "" if low and high else " or more" if low else " or less"
    origin = "From the document's numbers" if row.derived else "Claimed"
    return f"{origin}: about {words}{_times(row)}{side}, read as "


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
    return f"{OWN[row.own]}: {_number(row.own_value, row)}{_times(row)}{place}."


def _times(row: Claim) -> str:
    return " times" if row.unit == "times" else ""


def authors(key: str) -> str:
    """A document as part of a sentence: its authors, with the year in brackets."""
    return f"@{key}" if key in sources.read() else markup.verbatim(key)


def _document(key: str) -> str:
    """Authors, title and year of a document, its citation, and the conditions of its measurements.

    Only its key if this project does not list it, as in results of another project.
    """
    known = sources.read().get(key)
    if known is None:
        return f"**{markup.verbatim(key)}**"
    conditions = measured_under(known.conditions)
    return f"**{markup.verbatim(known.reference)}** [@{key}]. {known.kind}. Conditions: {conditions}."


def quoted(quote: str, locator: str) -> str:
    """A document's exact words, and their place in it."""
    return f"“{markup.verbatim(quote)}” ({markup.verbatim(locator)})"


def measured_under(values: Mapping[str, str]) -> str:
    """Conditions in words, without those that do not apply."""
    return "; ".join(
        f"{name} {markup.verbatim(value)}" if value != sources.NOT_STATED else f"{name} not stated"
        for name, value in values.items()
        if value != sources.INAPPLICABLE
    )
