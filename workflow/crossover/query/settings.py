"""The recommendations for a setting in words."""

import json
import re
from typing import Any

from crossover.query import question
from crossover.report.base import numbers

Row = dict[str, Any]

ENCODED = ("aims", "value", "points", "effects", "arms")
"""Columns that hold JSON."""

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters, except for tabs and ends of lines."""


def decoded(row: Row) -> Row:
    """A row of the recommendations with values instead of JSON."""
    return row | {name: json.loads(row[name]) for name in ENCODED if row[name] is not None}


def lines(own: Row) -> list[str]:
    """A decoded row of the recommendations in words, then its arm and the lines to paste, if it has any."""
    if not own["recommended"] or not own["snippet"]:
        return [line(own)]
    # A snippet can come from anybody, and a terminal obeys control characters.
    shown = CONTROL.sub("", own["snippet"]).strip("\n").splitlines()
    arm = f"arm {question.quoted(own['arm'])}, " if own["arm"] else ""
    return [line(own), f"{arm}to paste:", "", *shown, ""]


def line(own: Row) -> str:
    """A decoded row of the recommendations in words: the value with its interval and gain, or the reason for none."""
    scope = f"for {numbers.listed(own['aims'])} ({own['condition']})"
    if not own["recommended"]:
        return f"{own['setting']}, {scope}: no recommendation: {own['reason']}"
    value = f"{own['setting']} = {own['value']}{_interval(own)}, {scope}"
    if own["gain"] is None:
        return f"{value}: {own['about']}"
    unit = own["axis_unit"]
    gain = numbers.ratio(own["gain"], own["gain_low"], own["gain_high"])
    start, end = (numbers.quantity(own[name], unit) for name in ("gain_from", "gain_to"))
    where = f"at {start}" if start == end else f"from {start} to {end}"
    return f"{value}: {gain} times better than {own['default']} {where}"


def _interval(own: Row) -> str:
    if own["x"] is None:
        return ""
    found = numbers.interval(own["x"], own["low"], own["high"], own["axis_unit"], 2)
    return f" {found or '[open, open]'}"
