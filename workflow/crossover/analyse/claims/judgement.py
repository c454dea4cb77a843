"""Judges every claim from the joined tables of a run: verdict, reason and method.

docs/data.md defines the verdicts under "Claim verdicts". A number counts as outside its range after correction
for several numbers (Holm). That all intervals lie within needs no correction.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from crossover.analyse.claims.candidates import Candidates, NotMeasuredError, measured, of_source
from crossover.analyse.claims.quantities import UNITS, find
from crossover.analyse.claims.readings import ONE_LAUNCH, Known, Place, Result
from crossover.analyse.estimates.curve import NAMES, Row
from crossover.analyse.estimates.intervals import Floats, holm
from crossover.analyse.estimates.sensitivity import NO_NULL
from crossover.config import published, sources
from crossover.config.claim_list import KINDS, Claim, Unjudged
from crossover.design import protocol
from crossover.records import record
from crossover.records.record import SIGNIFICANCE

Verdict = Literal["holds", "larger here", "smaller here", "contradicted", "open", "not comparable here", "not measured"]


@dataclass(frozen=True)
class Range:
    """The range of a quantity if a claim holds, on the quantity's scale."""

    low: float
    high: float
    equivalent: bool = False
    """Whether two one-sided tests of equivalence decide, instead of the interval."""
    null: float | None = None
    """The number that would mean no difference; None for a quantity without one, such as a time."""


@dataclass(frozen=True)
class Judgement:
    """A verdict and its reason, a clause without numbers."""

    verdict: Verdict
    reason: str


def write(claims: Sequence[Claim], results: Path, unjudged: Sequence[Unjudged] = ()) -> None:
    """Judge `claims` (crossover.config.claim_list) from the tables in `results`, and write `claims.parquet` there.

    `unjudged` are claims that no measurement here can decide, each with its `reason`.
    """
    candidates = measured(results)
    source = cache(partial(of_source, published.read()))
    rows = [row(claim, candidates, source(claim.source)) for claim in claims]
    rows += [claim.columns | _nothing("not measured", claim.reason) | {"own": "no data"} for claim in unjudged]
    record.write(record.from_rows(rows, record.CLAIMS), results / "claims.parquet")


def row(claim: Claim, candidates: Candidates, source: Candidates) -> Row:
    """The verdict on one claim, as a row of record.CLAIMS."""
    try:
        found = find(candidates, claim.quantity)
        expected = _range(claim, found)
        judgement = judge(found, expected)
        if judgement.verdict == "not measured":
            raise NotMeasuredError(judgement.reason)
        if claim.unlike:
            judgement = Judgement("not comparable here", claim.unlike)
        differs = "; ".join(_differences(claim, candidates.conditions(found.curves[0])))
        columns = _measured(found, judgement, expected) | {"differs": differs}
    except NotMeasuredError as error:
        columns = _nothing("not measured", str(error))
    return _of_claim(claim) | {"method": KINDS[claim.quantity.kind].means} | columns | _of_source(claim, source)


def judge(found: Result, expected: Range) -> Judgement:
    """The verdict on a measured quantity: every test allows for chance and the possible bias together."""
    own, known = found.known, found.known.with_bias(found.effect)
    story = own.story if isinstance(own, Place) else ""
    # A bound says nothing about the range on its open side.
    low = -np.inf if found.at_least else expected.low
    high = np.inf if found.at_most else expected.high
    if (holm(known.p_between(low, high)) <= SIGNIFICANCE).any():
        if story:
            return Judgement("contradicted", f"{story}, and there is none in the expected range")
        return Judgement(_outside(known, found, expected), "it lies outside, beyond chance and possible bias")
    if found.missing:
        return Judgement("not measured", found.missing)
    if np.isnan(own.low).any():
        return Judgement("open", story or f"{ONE_LAUNCH}, so it is not replicated")
    if np.isnan(found.effect).any():
        return Judgement("open", NO_NULL)
    if (found.at_least and expected.high < np.inf) or (found.at_most and expected.low > -np.inf):
        bounds = {(True, False): "only a lower bound", (False, True): "only an upper bound", (True, True): "no bound"}
        known_bound = bounds[found.at_least, found.at_most]
        return Judgement("open", f"a curve still rises at the end of the axis, so {known_bound} is known")
    if _within(known, expected):
        how = "by two one-sided tests" if expected.equivalent else "with its whole interval"
        return Judgement("holds", f"it lies within the expected range, {how}, possible bias included")
    if _within(own, expected):
        return Judgement("open", "moved by the possible bias, it could lie outside the expected range")
    if (excess(own.mean, own.mean, expected) > 0).any():
        return Judgement("open", "it lies outside, but not beyond chance and possible bias")
    return Judgement("open", "its interval reaches beyond the expected range")


def _outside(known: Known, found: Result, expected: Range) -> Verdict:
    """The verdict on a number outside the expected range: contradicted if the claim's direction is wrong, too."""
    which = decisive(found, expected)
    value, low, high = (float(part[which]) for part in (known.mean, known.low, known.high))
    if expected.null is not None:
        above, below = expected.low >= expected.null, expected.high <= expected.null
        wrong = value < expected.null if above else value > expected.null
        sure = high < expected.null if above else low > expected.null
        at_the_edge = expected.null in (expected.low, expected.high)
        if not (above or below) or (wrong and (sure or at_the_edge)):
            return "contradicted"
    return "larger here" if value > expected.high else "smaller here"


def excess(low: Floats, high: Floats, expected: Range) -> Floats:
    """The distance by which each interval exceeds the expected range; negative inside the range."""
    return np.maximum(expected.low - low, high - expected.high)


def decisive(found: Result, expected: Range) -> int:
    """The index of the claim's least favourable number."""
    known = found.known
    ends = excess(known.low, known.high, expected)
    return int(np.argmax(np.where(np.isnan(ends), excess(known.mean, known.mean, expected), ends)))


def _of_claim(claim: Claim) -> Row:
    quantity = claim.quantity
    return {
        **claim.columns,
        **{"test": claim.test, "derived": claim.derived, "published": claim.published},
        **dict(zip(("claimed_low", "claimed_high"), claim.claimed, strict=True)),
        "contradicts": claim.contradicts,
        **{"kind": quantity.kind, "experiment": quantity.experiment, "metric": quantity.metric},
        "unit": UNITS.get(quantity.kind, ""),
        **{
            f"expected_{end}": value if math.isfinite(value) else None
            for end, value in zip(("low", "high"), claim.range, strict=True)
        },
    }


def _differences(claim: Claim, here: Mapping[str, Any]) -> Iterator[str]:
    """The conditions of a curve that are not those of the claim's document, if that states them."""
    stated = sources.read()[claim.source].conditions
    for name, value in here.items():
        theirs = stated.get(name, sources.NOT_STATED)
        if value is not None and theirs not in (str(value), sources.NOT_STATED, sources.INAPPLICABLE):
            yield f"{name}: {value} instead of {theirs}"


def _nothing(verdict: str, reason: str) -> Row:
    """The columns of a claim without a number."""
    return {"verdict": verdict, "reason": reason, "rows": [], "launches": 0, "numbers": 0}


def _measured(found: Result, judgement: Judgement, expected: Range) -> Row:
    which = decisive(found, expected)
    # An unknown point has a smallest effect too: on its scale, the effect is the same everywhere.
    centre = np.nan_to_num(found.known.mean[which])
    value, low, high = (_natural(found, getattr(found.known, name)[which]) for name in ("mean", "low", "high"))
    main = found.curves[0].facts
    rows = [{name: curve.facts[name] for name in NAMES} for curve in found.curves]
    return {
        "verdict": judgement.verdict,
        "reason": judgement.reason,
        "value": value,
        "low": low,
        "high": high,
        **({"unit": found.unit} if found.unit else {}),
        "scale": "log" if found.log else "linear",
        "at_least": found.at_least,
        "at_most": found.at_most,
        "x": found.x[which],
        "axis_unit": main["axis_unit"],
        "arm": found.arms[which],
        "placement": main["placement"],
        "protocol": main["protocol"],
        **protocol.columns(main),
        "launches": min(len(curve.launches) for curve in found.curves),
        "numbers": len(found.known.mean),
        "smallest_effect": _natural(found, centre) / _natural(found, centre - found.effect[which])
        if found.log
        else found.effect[which],
        "resolution": math.sqrt(high / low) if found.log else (high - low) / 2,
        "rows": [row for number, row in enumerate(rows) if row not in rows[:number]],
    }


def _of_source(claim: Claim, source: Candidates) -> Row:
    """Whether the source's own data agrees: the same quantity, computed from its published numbers."""
    try:
        found = find(source, claim.quantity)
    except NotMeasuredError:
        return {"own": "no data"}
    expected = _range(claim, found)
    values = found.known.mean
    # An interpolated point is not the source's data.
    if found.missing or found.between or np.isnan(values).any():
        return {"own": "no data"}
    beyond = excess(values, values, expected)
    which = int(np.argmax(beyond))
    agrees = "agrees" if beyond[which] <= 0 else "contradicts"
    return {"own": agrees, "own_value": _natural(found, values[which]), "own_x": found.x[which]}


def _range(claim: Claim, found: Result) -> Range:
    """The expected range, on the quantity's scale."""
    low, high = claim.range
    if found.log:
        low, high = (_on_scale(found, end) for end in (low, high))
    # One as a logarithm, or a difference, a slope or a share of zero.
    relative = UNITS.get(claim.quantity.kind) == "times" or not found.log
    return Range(low, high, claim.expected.within is not None, 0.0 if relative else None)


def _on_scale(found: Result, end: float) -> float:
    """An end of the range on the quantity's scale; an open end stays open, even on a bounded scale."""
    if math.isinf(end) or end <= 0:
        return math.copysign(math.inf, end or -1)
    return float(found.scale.of_log(np.log(end)))


def _natural(found: Result, number: float) -> float:
    return float(found.scale.value(np.array(number)) if found.log else number)


def _within(known: Known, expected: Range) -> bool:
    """Whether all numbers lie within the range, by their intervals or by tests of equivalence."""
    if expected.equivalent:
        return bool((known.p_outside(expected.low, expected.high) <= SIGNIFICANCE).all())
    return bool(((known.low >= expected.low) & (known.high <= expected.high)).all())
