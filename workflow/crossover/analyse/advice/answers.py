"""Recommendations under one condition: one for all aims of a setting if they agree, otherwise one per aim."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from crossover.analyse.advice.effects import Evidence, effects, serves
from crossover.analyse.advice.rules import decide
from crossover.analyse.advice.settings import Setting

Row = dict[str, Any]


def answers(setting: Setting, evidence: Sequence[Evidence]) -> Iterator[Row]:
    """The rows of a setting under one condition, in the order of its aims.

    The value for an aim also serves a later aim if it is a gain there too, and lies within the interval of that aim's
    own value. Then the later aim has no row of its own.
    """
    found = [
        (each, each.panel.facts | row | {"aims": json.dumps([each.aim.name])})
        for each in evidence
        if each.decides
        for row in decide(setting, each.panel)
    ]
    joined: list[int] = []
    for number, (own, row) in enumerate(found):
        if number in joined:
            continue
        if not row.get("recommended"):
            yield row
            continue
        changed = list(effects(setting, row, own, evidence))
        aims = [own.aim.name]
        for later in range(number + 1, len(found)):
            other, its = found[later]
            if later not in joined and _same(row, its) and any(serves(effect, other) for effect in changed):
                joined.append(later)
                aims.append(other.aim.name)
        yield row | {"aims": json.dumps(list(dict.fromkeys(aims))), "effects": json.dumps(changed)}


def _same(row: Row, other: Row) -> bool:
    """Whether two recommended values agree: the same choice, or points whose intervals overlap."""
    if not other.get("recommended") or row["arm"] != other["arm"]:
        return False
    if row.get("x") is None:
        return bool(row["value"] == other["value"])
    ends = [(each["low"] or 0.0, each["high"]) for each in (row, other)]
    return bool(max(low for low, _ in ends) <= min(high for _, high in ends))
