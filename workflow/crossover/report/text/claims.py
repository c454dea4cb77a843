"""Published claims and documents: the number of claims of each verdict, a paragraph for each source, citations."""

import json
import math
import re
from collections.abc import Mapping, Sequence

from crossover.config import sources
from crossover.report.text import markup, numbers
from crossover.report.text.tables import Row, at, grouped, slug

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
NONE: Mapping[str, Row] = {}
OWN = {"agrees": "The source's own data agrees", "contradicts": "The source's own data contradicts it"}


def counts(claims: Sequence[Row]) -> str:
    """The number of claims of each verdict, and of those that the source's data contradicts."""
    if not claims:
        return "No claim was judged."
    tally = numbers.tally([row["verdict"] for row in claims], VERDICTS)
    said = f"Of {numbers.counted(len(claims), 'published claim')} {tally}."
    with_data = [row["own"] for row in claims if row["own"] in OWN]
    if with_data:
        wrong = with_data.count("contradicts")
        be = "is" if wrong == 1 else "are"
        said += f" Of {len(with_data)} whose source has data of its own, {wrong} {be} contradicted by that data."
    return said


def paragraphs(claims: Sequence[Row]) -> list[str]:
    """A heading for each source, and under it an item for each of its claims."""
    named = {row["claim"]: row for row in claims}
    return [
        "\n".join([_document(source), "", *(f"- {sentences(row, named)}" for row in rows)])
        for (source,), rows in grouped(claims, "source").items()
    ]


def address(row: Row) -> str:
    """The address of a claim's words."""
    return slug(f"claim {row['claim']}")


def sentences(row: Row, named: Mapping[str, Row] = NONE) -> str:
    """The claim, its source's words, the verdict with numbers and conditions, the source's own data, and the claims
    among `named` that it contradicts."""
    place = markup.verbatim(row["locator"])
    # Tables can come from anybody, and a link can hold a script.
    linked = f"[{place}]({row['url']})" if re.fullmatch(r"https?://[^\s()<>]+", row["url"] or "") else place
    quoted = f"“{markup.verbatim(row['quote'].strip())}” ({linked})"
    head = f"[`{row['claim']}`]{{#{address(row)}}}: *{row['says'].strip()}* In its words: {quoted}."
    found = f"**{row['verdict'].capitalize()}**: {row['reason']}."
    if row["verdict"] == "not measured":
        return " ".join(filter(None, [head, found, _otherwise(row)]))
    number = f"measured: {measured(row) or 'none'}{_where(row)}"
    found += f" {_claimed(row)}{expected(row)}; {number}. {_conditions(row)}{_beside(row)}"
    # The rest of the method is the same for all claims, and stands above them.
    how = f"Method: {row['method'].partition('. ')[0].rstrip('.')}." if row["method"] else ""
    test = f"Tested: {row['test'].strip()}" if row["test"] else ""
    unlike = f"Not as in the document: {row['differs']}." if row["differs"] else ""
    others = [named[name] for name in json.loads(row["contradicts"] or "[]") if name in named]
    excluded = [f"Both cannot hold: `{each['claim']}` says {expected(each)}; it {_is(each)}." for each in others]
    parts = [head, test, found, unlike, *excluded, _sensitivity(row), _otherwise(row), how]
    return " ".join(filter(None, parts))


def _is(row: Row) -> str:
    return VERDICTS[row["verdict"]][0]


def _claimed(row: Row) -> str:
    """The document's own number or range, before the range as which it is read."""
    low, high = (None if end is None else _number(end, row) for end in (row["claimed_low"], row["claimed_high"]))
    if low is None and high is None:
        return "Expected: "
    words = low if low == high else f"{low} to {high}" if low and high else f"{low or high}"
    side = "" if low and high else " or more" if low else " or less"
    origin = "From the document's numbers" if row["derived"] else "Claimed"
    return f"{origin}: about {words}{_times(row)}{side}, read as "


def measured(row: Row) -> str:
    """The number behind a verdict with its interval; empty without one."""
    if row["value"] is None:
        return ""
    bounds = {(True, False): "at least ", (False, True): "at most "}
    bound = bounds.get((bool(row["at_least"]), bool(row["at_most"])), "")
    texts = [_number(row[name], row) for name in ("value", "low", "high") if row[name] is not None]
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


def _number(value: float, row: Row) -> str:
    """A number in the unit of the claim's quantity; the unit `times` follows after the interval."""
    unit = row["unit"] or ""
    if unit in ("", "µs", "times"):
        return f"{numbers.significant(value)} {'' if unit == 'times' else unit}".strip()
    return numbers.quantity(value, unit)


def expected(row: Row) -> str:
    """The range that a claim predicts."""
    low, high = (end if end is None else _number(end, row) for end in (row["expected_low"], row["expected_high"]))
    if low and high:
        ends, unit = _shared_unit([low, high])
        return f"{' to '.join(ends)}{unit}{_times(row)}"
    return f"at most {high}{_times(row)}" if high else f"at least {low}{_times(row)}" if low else "–"


def _where(row: Row) -> str:
    """The point and the arm of the number, if there are several."""
    against = f" against `{row['arm']}`" if row["arm"] else ""
    if row["numbers"] < 2:
        return against
    place = f" at {at(row)}" if row["x"] is not None else ""
    return f"{place}{against}, the least favourable of {numbers.counted(row['numbers'], 'number')}"


def _conditions(row: Row) -> str:
    """The curves and launches behind the verdict."""
    launches = numbers.counted(row["launches"], "launch")
    curves = [
        f"{curve['metric']} of `{curve['experiment']}`, {curve['protocol']} (placement `{curve['placement']}`)"
        for curve in json.loads(row["rows"])
    ]
    return f"Measured in {numbers.listed(list(dict.fromkeys(curves)))}, over {launches}."


def _beside(row: Row) -> str:
    """The conditions that the document states, each beside ours; empty if it states none."""
    known = sources.read().get(row["source"])
    stated = {
        name: theirs
        for name, theirs in (known.conditions if known else {}).items()
        if theirs not in (sources.NOT_STATED, sources.INAPPLICABLE)
    }
    ours = {"machine": "this one"}
    told = [
        f"{name} {markup.verbatim(theirs)} / {markup.verbatim(str(here))}"
        for name, theirs in stated.items()
        if (here := ours.get(name) or row.get(name)) is not None
    ]
    return f" Conditions there / here: {'; '.join(told)}." if told else ""


def _sensitivity(row: Row) -> str:
    if row["smallest_effect"] is None:
        return ""
    if math.isclose(row["smallest_effect"], 1 if row["scale"] == "log" else 0, abs_tol=1e-9):
        return "The null arms show no bias there."
    if row["scale"] == "log":
        return (
            f"The null arms leave room for a bias by a factor of up to {numbers.significant(row['smallest_effect'])}."
        )
    return f"The null arms leave room for a bias of up to {_number(row['smallest_effect'], row)}."


def _own(row: Row) -> str:
    return f"{_number(row['own_value'], row)}{_times(row)}"


def _otherwise(row: Row) -> str:
    """Whether the source's own data agrees with its claim."""
    if row["own"] not in OWN:
        return ""
    place = f" at {numbers.quantity(row['own_x'], row['axis_unit'])}" if row["own_x"] and row["numbers"] > 1 else ""
    return f"{OWN[row['own']]}: {_own(row)}{place}."


def _times(row: Row) -> str:
    return " times" if row["unit"] == "times" else ""


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
