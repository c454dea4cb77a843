"""What to set on this machine: a table, the lines to paste, and the reasons where nothing is recommended."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Sequence
from itertools import chain, groupby, repeat

from crossover.report import markup, quantities
from crossover.report.tables import Row, title

HEADER = ["setting", "set it to", "where this holds", "measured against the default"]
LEFT_HEADER = ["setting", "where", "why nothing is recommended"]


def section(rows: Sequence[Row]) -> str:
    """The whole section, from the rows of the recommendations."""
    if not rows:
        return "No setting was examined."
    passed, left = ([row for row in rows if row["recommended"] is wanted] for wanted in (True, False))
    parts = [opening(passed, left)]
    if passed:
        lines = [
            [name, f"**{_value(row)}**", _where(row), _compared(row)]
            for names, own in _by_setting(passed)
            for name, row in zip(names, own, strict=False)
        ]
        parts.append(markup.pipe_table(HEADER, lines))
        parts += [markup.raw(_to_paste(name, list(own))) for name, own in groupby(passed, _name)]
    if left:
        # Where nothing at all is recommended, the reasons are what there is to read.
        about = f"Best left as they are: {quantities.counted(len(left), 'setting')} without a recommendation, and why"
        parts.append(markup.folded(about, markup.pipe_table(LEFT_HEADER, list(_reasons(left))), unfolded=not passed))
    return "\n\n".join(parts)


def opening(passed: Sequence[Row], left: Sequence[Row]) -> str:
    """How much can be recommended, and the most that is gained by it."""
    examined = quantities.counted(len(passed) + len(left), "setting")
    each = "" if len(passed) + len(left) == 1 else "each "
    told = [f"{examined} examined, {each}under one condition: **{len(passed)} passed** the test."]
    gaining = [row for row in passed if row["gain"] is not None]
    if gaining:
        most = max(gaining, key=lambda row: float(row["gain"]))
        told.append(f"The most is gained by {_name(most)} under {_where(most)}: {gain(most)}.")
    return " ".join(told)


def reason(row: Row) -> str:
    """Why there is no recommendation, with the numbers by which that was judged."""
    told = [str(row["reason"])]
    if row["gain"] is not None:
        told[0] += f": {'it' if row['x'] is not None else '`' + row['arm'] + '`'} is {gain(row)}"
        if row["smallest_effect"] is not None:
            told.append(f"the smallest effect is {quantities.significant(row['smallest_effect'])}")
        if row["x"] is not None:
            told.append(f"the place would be {_value(row)}")
    return "; ".join(told)


def gain(row: Row) -> str:
    """By what factor the setting is better than the default, and where."""
    ends = [quantities.quantity(row[end], row["axis_unit"]) for end in ("gain_from", "gain_to") if row[end] is not None]
    where = f", {'on average over ' * (len(set(ends)) > 1)}{' to '.join(dict.fromkeys(ends))}" if ends else ""
    best = f" (the best of {row['tried']} that were tried)" if row["tried"] > 1 else ""
    factor = quantities.ratio(row["gain"], row["gain_low"], row["gain_high"])
    return f"{factor} times better in {row['metric']} than `{row['default']}`{where}{best}"


def _value(row: Row) -> str:
    if row["x"] is None:
        return f"`{json.loads(row['value'])}`"
    if row["low"] is None:
        return f"{quantities.quantity(row['x'], row['axis_unit'])}, or less"
    return quantities.position(row["x"], row["low"], row["high"], row["axis_unit"])


def _name(row: Row) -> str:
    return f"`{row['setting']}` of {row['library']}"


def _by_setting(rows: Sequence[Row]) -> Iterator[tuple[Iterator[str], list[Row]]]:
    """The rows of each setting, and what it is called line by line: it is explained once."""
    for (name, about), own in groupby(rows, lambda row: (_name(row), row["about"])):
        yield chain([f"{name}: {about}"], repeat(name)), list(own)


def _reasons(rows: Sequence[Row]) -> Iterator[list[str]]:
    """A line for each setting and reason, under LEFT_HEADER, with all the places that the reason is the same of."""
    for names, own in _by_setting(rows):
        places: dict[str, list[str]] = {}
        for row in own:
            places.setdefault(reason(row), []).append(_where(row))
        for name, (why, where) in zip(names, places.items(), strict=False):
            yield [name, "; ".join(dict.fromkeys(where)), why]


def _compared(row: Row) -> str:
    return "–" if row["gain"] is None else gain(row)


def _where(row: Row) -> str:
    """The condition; where there is no default to be measured against, whose number it is as well."""
    if row["protocol"] is None:
        return f"`{row['experiment']}`"
    whose = f", `{row['arm']}`" if row["arm"] is not None and row["default"] is None else ""
    return f"{title(row['protocol'], row['placement'])}{whose}"


def _to_paste(name: str, rows: Sequence[Row]) -> str:
    """The snippets of one setting, folded."""
    shown = "".join(
        f"<p>{html.escape(_where(row).replace('`', ''))}</p><pre><code>{html.escape(row['snippet'])}</code></pre>"
        for row in rows
    )
    return f"<details><summary>To paste: {html.escape(name.replace('`', ''))}</summary>{shown}</details>"
