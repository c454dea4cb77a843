"""A whole run on which every shipped claim can be judged: all curves that claims need, and the null arms' noise."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa

from crossover.analyse.estimates.curve import PANEL
from crossover.config import claim_list
from crossover.design.protocol import label
from crossover.records import record

LAUNCHES = 5

X = np.sort([8.0, 28.0, 64.0, 128.0, *np.logspace(0, 7, 15)])
"""A point in every part of the axis that a claim is about, among them points of the mail on message structs."""

CEILINGS = {"C", "C copy", "C no-copy"}

UNITS = {"round trip": "s", "efficiency": "", "throughput": "messages/s", "send rate": "messages/s"}


KEYS = {}
"""The keys of the curves that claims are about, by their protocols; `protocol` fills it."""


def protocol(where):
    """The protocol of the curve that a claim selects by keys."""
    KEYS[label(where)] = {**KEYS.get(label(where), {}), **where}
    return label(where)


def sides(quantity):
    """The names of all curves that a quantity needs."""
    over = quantity.over if isinstance(quantity.over, list) else [quantity.over]
    changes = [quantity.changed(change) for change in (None, *over)]
    if quantity.against:
        other = quantity.changed(quantity.against)
        changes += [other, other.changed(other.over)]
    for told in changes:
        yield told.experiment, told.placement, protocol(told.where), told.metric, told.arm


def medians(claims, seed=1):
    """Rows of record.MEDIANS: smooth curves, with a different slope for each arm, and launches that differ by 2 %."""
    random = np.random.default_rng(seed)
    wanted = sorted({each for claim in claims for each in sides(claim.quantity)})
    references = {}
    for *panel, arm in sorted(wanted, key=lambda side: side[-1] in CEILINGS):
        references.setdefault(tuple(panel), arm)
    for number, (*panel, arm) in enumerate(wanted):
        reference = references[tuple(panel)]
        x = X
        mine = number - wanted.index((*panel, reference))
        ratio = np.exp(0.4 * mine + 0.12 * mine * np.log(x / 3e4))
        base = 5000 / (1 + x / 1e6) if panel[3] != "efficiency" else 0.4 + 0 * x
        for launch in range(1, LAUNCHES + 1):
            noise = np.exp(0.02 * random.standard_normal(len(x)))
            for place, value, paired in zip(x, base * ratio * noise, ratio * noise, strict=True):
                yield {
                    **dict(zip(("experiment", "placement", "protocol", "metric", "arm"), (*panel, arm), strict=True)),
                    **{
                        "reference": reference,
                        "axis": "axis",
                        "axis_unit": "bytes",
                        "unit": UNITS.get(panel[3], "tasks/s"),
                    },
                    **{"better": "higher", "levels": [], "is_null_arm": False, "launch": launch},
                    "ceiling": arm in CEILINGS,
                    **{"rounds": 10, "pairs": 10, "x": place, "value": value},
                    **KEYS[panel[2]],
                    "ratio": None if arm == reference else paired,
                }


def write(folder, rows, effect=1.01):
    """Write the tables that the judgement of claims reads."""
    panels = {(row["experiment"], row["placement"], row["metric"], row["arm"]) for row in rows}
    names = ("experiment", "placement", "metric", "arm")
    noise = [dict(zip(names, panel, strict=True)) | {"smallest_effect": effect} for panel in sorted(panels)]
    settings = {name: [row["arm"] for row in noise if row["experiment"] == name] for name, *_ in panels}
    launches = [
        {"experiment": name, "placement": placement, "outcome": "measured", "launch": launch}
        | {"settings": json.dumps({"arms": settings[name]})}
        for name, placement in sorted({panel[:2] for panel in panels})
        for launch in range(1, LAUNCHES + 1)
    ]
    for name, schema, told in (
        ("medians", record.MEDIANS, rows),
        ("sensitivity", record.SENSITIVITY, noise),
        ("launches", record.LAUNCHES, launches),
    ):
        record.write(pa.Table.from_pylist(told, schema), folder / f"{name}.parquet")
    return folder


@cache
def shipped():
    """The claims of config/claims.yaml."""
    return claim_list.read()


def louder(curves, which):
    """The same curves after a change of one arm along the whole axis, and of the ratios to it."""
    facts = which.facts

    def changed(curve):
        shift = np.log(1.7 * curve.x**0.05)
        if curve.facts == facts:
            return replace(curve, values=curve.values + shift, ratios=curve.ratios + shift)
        panel = all(curve.facts[name] == facts[name] for name in PANEL)
        if panel and curve.facts["reference"] == facts["arm"]:
            return replace(curve, ratios=curve.ratios - shift)
        return curve

    return [changed(curve) for curve in curves]
