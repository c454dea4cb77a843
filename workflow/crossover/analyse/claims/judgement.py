"""Judges every claim from the joined tables of a run."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from crossover.analyse.claims.candidates import Candidates, NotMeasuredError, of_source
from crossover.analyse.claims.measured import READ, Tiers, measured
from crossover.analyse.claims.method import method
from crossover.analyse.claims.quantities import UNITS, find
from crossover.analyse.claims.result import Result
from crossover.analyse.claims.verdict import Judgement, Range, decisive, excess, judge
from crossover.analyse.curves.curve import NAMES, Row
from crossover.config import claim_list, published, sources
from crossover.design import protocol
from crossover.records import failure, record

Claim = Mapping[str, Any]


def write(claims: Sequence[Claim], results: Path, higher: Tiers, unjudged: Sequence[Claim] = ()) -> None:
    """Judge `claims` (crossover.config.claim_list) from the tables in `results`, and write `claims.parquet` there.

    `unjudged` are claims that no measurement here can decide, each with its `reason`. If a judgement fails, or a table
    of its experiment did, the claim is `not judged`, with the reason in the table and in its metadata.
    """
    candidates = cache(partial(measured, results, higher))
    source = cache(partial(of_source, published.read()))
    broken = [each for name in READ for each in failure.of(results / f"{name}.parquet")]
    rows, failures = [], []
    for claim in claims:
        experiments = [side["experiment"] for _, side in claim_list.sides(claim["quantity"])]
        with failure.caught("claim", claim["claim"], experiments[0]) as failed:
            failure.require(broken, experiments, READ)
            rows.append(row(claim, candidates(), source(claim["source"])))
        rows += [_of_claim(claim) | _nothing("not judged", failure.reason(each)) for each in failed]
        failures += failed
    rows += [dict(claim) | _nothing("not measured", claim["reason"]) | {"own": "no data"} for claim in unjudged]
    record.write(record.from_rows(rows, record.CLAIMS), results / "claims.parquet", failure.stored(failures))


def row(claim: Claim, candidates: Candidates, source: Candidates) -> Row:
    """The verdict on one claim, as a row of record.CLAIMS."""
    try:
        found = find(candidates, claim["quantity"])
        expected = _range(claim, found)
        judgement = judge(found, expected)
        if judgement.verdict == "not measured":
            raise NotMeasuredError(judgement.reason)
        columns = _measured(found, judgement, expected) | {
            "method": method(claim["quantity"], found, expected),
            "differs": "; ".join(_differences(claim, candidates.conditions(found.curves[0]))),
        }
    except NotMeasuredError as error:
        how = method(claim["quantity"], None, Range(claim["low"], claim["high"], claim["equivalent"]))
        columns = _nothing("not measured", str(error)) | {"method": how}
    return _of_claim(claim) | columns | _of_source(claim, source)


def _of_claim(claim: Claim) -> Row:
    quantity = claim["quantity"]
    return {
        **{key: claim[key] for key in ("claim", "source", "quote", "locator", "url", "says", "test", "derived")},
        **{key: claim[key] for key in ("published", "claimed_low", "claimed_high")},
        "contradicts": json.dumps(claim["contradicts"]),
        **{key: quantity[key] for key in ("kind", "experiment", "metric")},
        "unit": UNITS.get(quantity["kind"], ""),
        **{f"expected_{end}": claim[end] if math.isfinite(claim[end]) else None for end in ("low", "high")},
    }


def _differences(claim: Claim, here: Mapping[str, Any]) -> Iterator[str]:
    """The conditions of a curve that are not those of the claim's document, if that states them."""
    stated = sources.read()[claim["source"]].conditions
    for name, value in here.items():
        theirs = stated.get(name, sources.NOT_STATED)
        if value is not None and theirs not in (str(value), sources.NOT_STATED, sources.INAPPLICABLE):
            yield f"{name}: {value} instead of {theirs}"


def _nothing(verdict: str, reason: str) -> Row:
    """The columns of a claim without a number."""
    return {"verdict": verdict, "reason": reason, "rows": "[]", "launches": 0, "numbers": 0}


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
        "rows": json.dumps([row for number, row in enumerate(rows) if row not in rows[:number]]),
    }


def _of_source(claim: Claim, source: Candidates) -> Row:
    """Whether the source's own data agrees: the same quantity, computed from its published numbers."""
    try:
        found = find(source, claim["quantity"])
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
    low, high = claim["low"], claim["high"]
    if found.log:
        low, high = (_on_scale(found, end) for end in (low, high))
    return Range(low, high, claim["equivalent"])


def _on_scale(found: Result, end: float) -> float:
    """An end of the range on the quantity's scale; an open end stays open, even on a bounded scale."""
    if math.isinf(end) or end <= 0:
        return math.copysign(math.inf, end or -1)
    return float(found.scale.of_log(np.log(end)))


def _natural(found: Result, number: float) -> float:
    return float(found.scale.value(np.array(number)) if found.log else number)
