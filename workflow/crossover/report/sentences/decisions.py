"""The first sentences of a page: what to do on this machine, one decision each."""

import json
from collections.abc import Mapping, Sequence

from crossover.records.outcome import ALIKE, OPEN
from crossover.report.base import numbers, questions
from crossover.report.base.tables import Row
from crossover.report.sentences.winners import Pair, factors, in_bytes, where

MOST, SETTINGS = 6, 3
"""The most sentences, and how many of them are on settings."""
NAMED = 2
"""The most pairs without a decided point that are named."""


def sentences(recommendations: Sequence[Row], every: Sequence[Pair]) -> list[str]:
    """At most MOST sentences: the settings with the largest gains, the strongest other pairs, pairs without difference.

    `every` has all pairs, the strongest first.
    """
    names = questions.names(pair.panel for pair in every)
    chosen = _first([row for row in recommendations if row["recommended"]])
    # A choice can be better on average, although no single point shows it.
    rest = [pair for pair in every if not any(_is_of(pair, row) for row in chosen)]
    others = [pair for pair in rest if pair.strength > 1]
    undecided = _undecided(rest, names)
    room = MOST - len(chosen) - bool(undecided)
    said = [setting(row, every, names) for row in chosen] + [winner(pair, names) for pair in others[:room]]
    return [*(said or [_nothing(every)]), *filter(None, [undecided])]


def _first(rows: Sequence[Row]) -> list[Row]:
    """The first row of each setting, the largest gains first; rows without a gain last."""
    best: dict[tuple[str, str], Row] = {}
    for row in rows:
        best.setdefault((row["library"], row["setting"]), row)
    return sorted(best.values(), key=lambda row: -(row["gain"] or 0))[:SETTINGS]


def setting(row: Row, every: Sequence[Pair], names: Mapping[questions.Name, str]) -> str:
    """A recommended setting, and its gain at the points of its curve that are decided."""
    place = numbers.quantity(row["x"], row["axis_unit"]) if row["x"] is not None else ""
    if row["low"] is not None:
        place = numbers.position(row["x"], row["low"], row["high"], row["axis_unit"])
    of = names.get((row["experiment"], row["protocol"], row["placement"]), row["library"])
    name = f"`{row['setting']}` of {row['library']}"
    if row["default"] is None:
        return f"Choose {name} for {place} ({of}): {row['about']}."
    pair = next((pair for pair in every if _is_of(pair, row) and pair.panel.reference == row["default"]), None)
    gain = f"{numbers.ratio(row['gain'], row['gain_low'], row['gain_high'])} times better in {row['metric']} on average"
    gain = (pair and _along(row, in_bytes(pair))) or gain
    if not is_assigned(row):
        begins = f" from {place} on" if row["low"] is not None else ""
        return f"Use `{row['arm']}` instead of `{row['default']}`{begins} ({of}): {gain}."
    if row["x"] is None:
        return f"Set {name} to `{json.loads(row['value'])}` ({of}): {gain}."
    return f"Set {name} to {place} ({of}): above, `{row['arm']}` is {gain}."


def is_assigned(row: Row) -> bool:
    """Whether the lines to paste assign the setting; otherwise to set it is to use the arm."""
    return f"{row['setting']} = " in row["snippet"]


def winner(pair: Pair, names: Mapping[questions.Name, str]) -> str:
    """The better arm at each decided part of a pair's axis."""
    scaled = in_bytes(pair)
    won = [(who, cells) for who, cells in scaled.runs if who not in (ALIKE, OPEN)]
    better = numbers.comparatives(pair.panel.unit)[0]
    parts = [f"use `{who}` {where(cells, scaled.cells)}, {factors(cells)} {better}" for who, cells in won]
    against = f" (`{pair.arm}` or `{pair.panel.reference}`)" if len({who for who, _ in won}) < 2 else ""
    return f"{names[questions.name(pair.panel)]}{against}: {'; '.join(parts)}."


def _along(row: Row, pair: Pair) -> str:
    """The factors at decided points from the setting's place on, and the other points there; empty if none is won."""
    start = row["x"] and row["x"] * numbers.UNIT_BYTES.get(row["axis_unit"], 1)
    cells = [cell for cell in pair.cells if start is None or cell["x"] >= start]
    won = [cell for cell in cells if pair.winner(cell) == row["arm"]]
    if not won:
        return ""
    left = {OPEN: OPEN, ALIKE: ALIKE, f"`{row['default']}` is better": row["default"]}
    own = {words: [cell for cell in cells if pair.winner(cell) == who] for words, who in left.items()}
    rest = [f"{words} {where(others, cells)}" for words, others in own.items() if others]
    better = numbers.comparatives(pair.panel.unit)[0]
    # A setting that begins at a point says so itself.
    place = "" if start is not None and len(won) == len(cells) < len(pair.cells) else f" {where(won, pair.cells)}"
    return "; ".join([f"{factors(won)} {better}{place}", *rest])


def _undecided(every: Sequence[Pair], names: Mapping[questions.Name, str]) -> str:
    """The pairs without a decided point, in a sentence for those that are alike, open, or either."""
    groups: dict[str, list[Pair]] = {}
    for pair in every:
        if pair.strength == 1 and pair.is_replicated:
            groups.setdefault(" or ".join(sorted({who for who, _ in pair.runs})), []).append(pair)
    told = (f"{about.capitalize()} at every point: {_named(own, names)}." for about, own in sorted(groups.items()))
    return " ".join(told)


def _named(own: Sequence[Pair], names: Mapping[questions.Name, str]) -> str:
    told = [f"{names[questions.name(pair.panel)]}, `{pair.arm}` or `{pair.panel.reference}`" for pair in own]
    more = f"; and {len(told) - NAMED} more" if len(told) > NAMED else ""
    return f"{'; '.join(told[:NAMED])}{more}"


def _nothing(every: Sequence[Pair]) -> str:
    if every and not any(pair.is_replicated for pair in every):
        return "Nothing is decided: one launch has no interval. More `launches` in `config/config.yaml` give one."
    return "Nothing is decided: change no setting because of this run." if every else "No arm could be compared."


def _is_of(pair: Pair, row: Row) -> bool:
    """Whether a recommended row is about this pair's curve."""
    names = ("experiment", "metric", "protocol", "placement")
    return pair.arm == row["arm"] and all(getattr(pair.panel, name) == row[name] for name in names)
