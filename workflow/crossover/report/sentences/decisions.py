"""The first sentences of a page: what to do on this machine, one decision each."""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby

from crossover.report.base import numbers, questions
from crossover.report.base.tables import Row
from crossover.report.sentences.winners import OPEN, Pair, factors, in_bytes

MOST, SETTINGS = 5, 3
"""The most sentences, and how many of them are on settings."""
NAMED = 2
"""The most curves without a difference that are named."""


def sentences(recommendations: Sequence[Row], every: Sequence[Pair]) -> list[str]:
    """At most MOST sentences: the settings with the largest gains, the strongest other pairs, pairs without difference.

    `every` has all pairs, the strongest first.
    """
    names = questions.names(pair.panel for pair in every)
    chosen = _best([row for row in recommendations if row["recommended"]])
    told = [(*_curve(row), row["arm"]) for row in chosen]
    others = [pair for pair in every if pair.strength and (*_curve_of(pair), pair.arm) not in told]
    equal = _equal(every, names)
    room = MOST - len(chosen) - bool(equal)
    said = [setting(row, every, names) for row in chosen] + [winner(pair, names) for pair in others[:room]]
    if not said:
        said = [_nothing(every)]
    return [*said, *([equal] if equal else [])]


def _best(rows: Sequence[Row]) -> list[Row]:
    """The row with the largest gain of each setting, the largest gains first; rows without a gain last."""
    best: dict[tuple[str, str], Row] = {}
    for row in sorted(rows, key=lambda row: -(row["gain"] or 0)):
        best.setdefault((row["library"], row["setting"]), row)
    return list(best.values())[:SETTINGS]


def setting(row: Row, every: Sequence[Pair], names: Mapping[questions.Name, str]) -> str:
    """A recommended setting, and what it gains at the points of its curve that are decided."""
    place = numbers.quantity(row["x"], row["axis_unit"]) if row["x"] is not None else ""
    if row["low"] is not None:
        place = numbers.position(row["x"], row["low"], row["high"], row["axis_unit"])
    name, curve = f"`{row['setting']}` of {row['library']}", f" ({_name(row, names)})"
    if row["default"] is None:
        return f"Choose {name} for {place}{curve}: {row['about']}."
    pair = next((pair for pair in every if _curve_of(pair) == _curve(row) and _compares(pair, row)), None)
    gain = (pair and _from(row, in_bytes(pair), row["x"] and row["x"] * _bytes(row))) or _gain(row)
    if row["arm"] in row["setting"]:
        return f"Use `{row['arm']}` instead of `{row['default']}`{curve}: {gain}."
    if row["x"] is None:
        return f"Set {name} to `{json.loads(row['value'])}`{curve}: {gain}."
    return f"Set {name} to {place}{curve}: above, `{row['arm']}` is {gain}."


def winner(pair: Pair, names: Mapping[questions.Name, str]) -> str:
    """The better arm at each decided part of a pair's axis."""
    scaled = in_bytes(pair)
    parts = [
        f"use `{who}` {where(cells, scaled.cells)}, {factors(cells)} {numbers.comparatives(pair.panel.unit)[0]}"
        for who, cells in runs(scaled)
        if who != OPEN
    ]
    winners = {who for who, _ in runs(scaled)} - {OPEN}
    against = f" (`{pair.arm}` or `{pair.panel.reference}`)" if len(winners) < 2 else ""
    return f"{names[questions.name(pair.panel)]}{against}: {'; '.join(parts)}."


def runs(pair: Pair) -> list[tuple[str, list[Row]]]:
    """The better arm, or OPEN, of each part of the axis, with the cells of the part."""
    return [(who, list(cells)) for who, cells in groupby(pair.cells, pair.winner)]


def _from(row: Row, pair: Pair, start: float | None) -> str:
    """The factors at decided points from `start` on, and the points that are open or lost; empty if none is won."""
    cells = [cell for cell in pair.cells if start is None or cell["x"] >= start]
    won = [cell for cell in cells if pair.winner(cell) == row["arm"]]
    if not won:
        return ""
    left = {"open": OPEN, f"`{row['default']}` is better": row["default"]}
    rest = [
        f"{word} {where([cell for cell in cells if pair.winner(cell) == who], cells)}"
        for word, who in left.items()
        if any(pair.winner(cell) == who for cell in cells)
    ]
    better = numbers.comparatives(pair.panel.unit)[0]
    # A setting that begins at a point says so itself.
    place = "" if start is not None and len(won) == len(cells) < len(pair.cells) else f" {where(won, pair.cells)}"
    return "; ".join([f"{factors(won)} {better}{place}", *rest])


def _gain(row: Row) -> str:
    return f"{numbers.ratio(row['gain'], row['gain_low'], row['gain_high'])} times better in {row['metric']} on average"


def where(own: Sequence[Row], everywhere: Sequence[Row]) -> str:
    """Some cells of an axis, in words."""
    unit = own[0]["axis_unit"]
    first, last = (numbers.quantity(cell["x"], unit) for cell in (own[0], own[-1]))
    if len(own) == len(everywhere):
        return f"at every measured point ({first} to {last})" if first != last else f"at {first}"
    if len(own) > 1 and own == everywhere[: len(own)]:
        return f"up to {last}"
    if len(own) > 1 and own == everywhere[-len(own) :]:
        return f"from {first} on"
    return f"at {numbers.runs([cell['x'] for cell in own], [cell['x'] for cell in everywhere], unit)}"


def _equal(every: Sequence[Pair], names: Mapping[questions.Name, str]) -> str:
    """The pairs of which no point is decided, in one sentence."""
    own = [pair for pair in every if not pair.strength and pair.verdict != "not replicated"]
    if not own:
        return ""
    told = list(dict.fromkeys(names[questions.name(pair.panel)] for pair in own))
    more = f"; and {len(told) - NAMED} more" if len(told) > NAMED else ""
    return f"Undecided at every point: {'; '.join(told[:NAMED])}{more}."


def _nothing(every: Sequence[Pair]) -> str:
    if every and all(pair.verdict == "not replicated" for pair in every):
        return "Nothing is decided: one launch has no interval. More `launches` in `config/config.yaml` give one."
    return "Nothing is decided: change no setting because of this run." if every else "No arm could be compared."


def _name(row: Row, names: Mapping[questions.Name, str]) -> str:
    return names.get((row["experiment"], row["protocol"], row["placement"]), row["library"])


def _curve(row: Row) -> tuple[str, ...]:
    return row["experiment"], row["metric"], row["protocol"], row["placement"]


def _curve_of(pair: Pair) -> tuple[str, ...]:
    return pair.panel.experiment, pair.panel.metric, pair.panel.protocol, pair.panel.placement


def _compares(pair: Pair, row: Row) -> bool:
    return (pair.arm, pair.panel.reference) == (row["arm"], row["default"])


def _bytes(row: Row) -> int:
    return numbers.UNIT_BYTES.get(row["axis_unit"], 1)
