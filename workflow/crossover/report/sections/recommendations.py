"""Recommended settings: a table, lines to paste, and the reasons for settings without a recommendation."""

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, repeat

from crossover.records.outcome import BETTER, OPEN, WORSE
from crossover.report.base import markup, numbers
from crossover.report.base.tables import Row, at, brief, title

Tiers = Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]
NO_TIERS: Tiers = {}


def section(rows: Sequence[Row], tiers: Tiers = NO_TIERS) -> str:
    """The whole section, from the rows of the recommendations.

    `tiers` has what higher tiers measure: {experiment: {tier: {key: entries}}}.
    """
    if not rows:
        return "No setting was examined."
    passed, left = ([row for row in rows if row["recommended"] is wanted] for wanted in (True, False))
    parts = [opening(passed, left)]
    if passed:
        lines = [
            {
                "setting": _name(row),
                "set it to": _value(row),
                "gain": "–" if row["gain"] is None else f"{_factor(row)} times",
                "for": _brief(row),
            }
            for row in passed
        ]
        parts += [f"::: {{.settings}}\n\n{markup.table(lines)}\n\n:::", *conflicts(passed)]
        parts += [_on_demand(name, list(own)) for name, own in groupby(passed, _name)]
    if left:
        # Without any recommendation, the reasons are shown unfolded.
        about = f"Leave at the default: {numbers.counted(len(left), 'setting')} without a recommendation, and why"
        parts.append(markup.folded(about, markup.table(list(_reasons(left, tiers))), unfolded=not passed))
    return "\n\n".join(parts)


def conflicts(passed: Sequence[Row]) -> Iterator[str]:
    """A paragraph for each setting and condition whose aims conflict."""
    for (name, _), own in groupby(passed, lambda row: (_name(row), row["condition"])):
        rows = list(own)
        values = [f"{_value(row)} for {_served(row)}" for row in rows]
        costs = [
            f"{_value(row)} is {numbers.listed(worse)}"
            for row in rows
            if (worse := [_changed(effect, row) for effect in _costs(row)])
        ]
        if costs or len({row["aims"] for row in rows}) > 1:
            yield " ".join(f"{text}." for text in [f"The aims conflict for {name}: {numbers.listed(values)}", *costs])


def _costs(row: Row) -> list[Row]:
    """The effects of a row's value that are losses in another aim."""
    own = [*json.loads(row["aims"]), None]
    return [effect for effect in _effects(row) if effect["says"] == WORSE and effect["aim"] not in own]


def opening(passed: Sequence[Row], left: Sequence[Row]) -> str:
    """The number of recommendations, and the largest gain."""
    examined = numbers.counted(len(passed) + len(left), "setting")
    parts = [f"{examined} examined, each for one aim and condition: **{len(passed)} passed** the test."]
    gaining = [row for row in passed if row["gain"] is not None]
    if gaining:
        most = max(gaining, key=lambda row: float(row["gain"]))
        parts.append(f"The largest gain is from {_name(most)}, for {_brief(most)}: {_factor(most)} times.")
    return " ".join(parts)


def reason(row: Row) -> str:
    """The reason for no recommendation, with its numbers."""
    parts = [str(row["reason"])]
    if row["gain"] is not None:
        parts[0] += f": `{row['arm']}` is {gain(row)}"
        if row["smallest_effect"] is not None:
            parts.append(f"the possible bias is {numbers.percent(row['smallest_effect'] - 1)}")
        if row["x"] is not None:
            parts.append(f"the crossover would be {_place(row)}")
    return "; ".join([*parts, *_standing(row)])


def gain(row: Row) -> str:
    """The factor by which the setting is better than the default, and where."""
    where = _over(row["gain_from"], row["gain_to"], row["axis_unit"])
    best = f" (the best of {row['tried']} candidates)" if row["tried"] > 1 else ""
    return f"{_factor(row)} times better than `{row['default']}` in {row['metric']}{where}{best}"


def _factor(row: Row) -> str:
    return numbers.ratio(row["gain"], row["gain_low"], row["gain_high"])


def _over(first: float | None, last: float | None, unit: str) -> str:
    """The measured points over which a gain is averaged."""
    ends = [numbers.quantity(end, unit) for end in (first, last) if end is not None]
    return f", {'on average over ' * (len(set(ends)) > 1)}{' to '.join(dict.fromkeys(ends))}" if ends else ""


def _changed(effect: Row, row: Row) -> str:
    """One other effect of a row's value; facts that it shares with the row's gain are left out."""
    factor, low, high = (effect.get(name) for name in ("factor", "low", "high"))
    over = "" if effect["over"] == row["default"] else f" than `{effect['over']}`"
    of = "" if effect["experiment"] == row["experiment"] else f" of `{effect['experiment']}`"
    if factor is None:
        return f"the same{over.replace('than', 'as')} at every measured point"
    alike = [effect["from"], effect["to"]] == [row["gain_from"], row["gain_to"]]
    where = "" if alike else _over(effect["from"], effect["to"], effect["axis_unit"])
    measure = f"in {effect['metric']}{of}"
    if effect["says"] == OPEN:
        return f"open {measure} ({numbers.ratio(factor, low, high)} times as good{over.replace('than', 'as')}){where}"
    word = "better" if factor >= 1 else "worse"
    if factor < 1:
        factor, low, high = 1 / factor, *(None if end is None else 1 / end for end in (high, low))
    return f"{numbers.ratio(factor, low, high)} times {word}{over} {measure}{where}"


def _effects(row: Row) -> list[Row]:
    """The other effects of a row's value, first in metrics that decide an aim, then in the others."""
    return sorted(json.loads(row["effects"] or "[]"), key=lambda effect: effect["aim"] is None)


def _aims(row: Row) -> str:
    return numbers.listed(json.loads(row["aims"]))


def _value(row: Row) -> str:
    if row["x"] is None:
        return f"**`{json.loads(row['value'])}`**"
    if row["default"] is None:
        return f"**{_place(row)}**{' (upper bound)' * (row['low'] is None)}"
    if [standing for standing, points in _points(row).items() if points] == [BETTER]:
        return f"**`{row['arm']}`** at every measured point"
    return f"`{row['arm']}` from **{_place(row)}** on"


def _standing(row: Row) -> Iterator[str]:
    """The measured points at which the setting is better, alike, open and worse, unless it is one of them at all."""
    points = {standing: own for standing, own in _points(row).items() if own}
    everywhere = sorted(chain(*points.values()))
    for standing, own in points.items() if len(points) > 1 else ():
        yield f"{standing} at {numbers.runs(own, everywhere, row['axis_unit'])}"


def _points(row: Row) -> dict[str, list[float]]:
    found: dict[str, list[float]] = json.loads(row["points"] or "{}")
    return found


def _place(row: Row) -> str:
    if row["low"] is None:
        return at(row)
    return numbers.position(row["x"], row["low"], row["high"], row["axis_unit"])


def _name(row: Row) -> str:
    return f"`{row['setting']}` of {row['library']}"


def _named(rows: Iterable[Row]) -> Iterator[tuple[str, Row]]:
    """Each row with the name of its setting; the first row of a setting also explains it."""
    for (name, about), own in groupby(rows, lambda row: (_name(row), row["about"])):
        yield from zip(chain([f"{name}: {about}"], repeat(name)), own, strict=False)


def _reasons(rows: Sequence[Row], tiers: Tiers) -> Iterator[dict[str, str]]:
    """A line for each setting, aim and reason, with all the places that share the reason."""
    alike: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        alike.setdefault((_name(row), row["about"], _aims(row), reason(row)), []).append(row)
    for (name, first), own in zip(_named(own[0] for own in alike.values()), alike.values(), strict=True):
        where = "; ".join(dict.fromkeys(map(_where, own)))
        why = "; ".join(filter(None, [reason(first), _decided_by(first, tiers.get(first["experiment"], {}))]))
        yield {"setting": name, "aim": f"{_aims(first)} ({where})", "why nothing is recommended": why}


def _decided_by(row: Row, tiers: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """The first tier that measures an arm that this run's reason misses; for open questions, more launches."""
    named = set(re.findall("`([^`]+)`", row["reason"] or ""))
    for tier, keys in tiers.items():
        if named & set(chain(*keys.values())) and row["launches"] is None:
            return f"the `{tier}` tier measures it"
    if row["launches"] is not None and row["reason"].startswith(OPEN):
        return "more launches can decide it, as in a higher tier"
    return ""


def _served(row: Row) -> str:
    """The aims, and the condition."""
    return f"{_aims(row)} ({_where(row)})"


def _brief(row: Row) -> str:
    """The aims, and the condition in a few words."""
    if row["protocol"] is None:
        return _served(row)
    whose = f", `{row['arm']}`" if row["arm"] is not None and row["default"] is None else ""
    return f"{_aims(row)}, {title(brief(row), row['placement'])}{whose}"


def _where(row: Row) -> str:
    """The condition, with the arm if there is no default to compare with."""
    if row["protocol"] is None:
        return f"`{row['experiment']}`"
    whose = f", `{row['arm']}`" if row["arm"] is not None and row["default"] is None else ""
    return f"{title(row['protocol'], row['placement'])}{whose}"


def _on_demand(name: str, rows: Sequence[Row]) -> str:
    """What a setting does, its conditions, gains and other effects in full, and the lines to paste, folded."""
    parts = [f"{markup.capitalized(rows[0]['about'])}."]
    for row in rows:
        details = [_value(row), *_standing(row), *([] if row["gain"] is None else [gain(row)])]
        effects = "; ".join(_changed(effect, row) for effect in _effects(row))
        other = f" Other effects: {effects}." if effects else ""
        parts += [f"For {_served(row)}: {'; '.join(details)}.{other}", _snippet(row)]
    about = f"Why, and lines to paste: {html.escape(markup.plain(name))}"
    return markup.folded(about, "\n\n".join(parts), unfolded=False)


def _snippet(row: Row) -> str:
    return markup.raw(f"<pre><code>{html.escape(row['snippet'])}</code></pre>")
