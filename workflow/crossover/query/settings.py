"""The recommendations for a setting in words."""

import json
from typing import Any

from crossover.query import question
from crossover.report.sentences import settings

Row = dict[str, Any]

ENCODED = ("value", "points")
"""Columns that hold JSON."""


def decoded(row: Row) -> Row:
    """A row of the recommendations with values instead of JSON."""
    return row | {name: json.loads(row[name]) for name in ENCODED if row[name] is not None}


def lines(row: Row, place: str) -> list[str]:
    """A row of the recommendations in words, for the question `place`, then its arm and the lines to paste, if any."""
    if not row["recommended"]:
        return [f"{row['setting']}, for {place}: no recommendation: {settings.reason(row)}"]
    said = f"{settings.value(row)}, for {place}: {settings.gain([row])}, {settings.cost([row])}"
    return [said, f"arm {question.quoted(row['arm'])}, to paste:", "", *row["snippet"].strip("\n").splitlines(), ""]
