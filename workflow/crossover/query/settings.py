"""The recommendations for a setting in words."""

import json
from typing import Any

from crossover.query import question
from crossover.report.text import recommendations

Row = dict[str, Any]

ENCODED = ("value", "points")
"""Columns that hold JSON."""


def decoded(row: Row) -> Row:
    """A row of the recommendations with values instead of JSON."""
    return row | {name: json.loads(row[name]) for name in ENCODED if row[name] is not None}


def lines(row: Row, place: str) -> list[str]:
    """A row of the recommendations in words, for the question `place`, then its arm and the lines to paste, if any."""
    if not row["recommended"]:
        return [f"{row['setting']}, for {place}: no recommendation: {recommendations.why_none(row)}"]
    said = f"{recommendations.value(row)}, for {place}: {recommendations.gain([row])}, {recommendations.cost([row])}"
    return [said, f"arm {question.quoted(row['arm'])}, to paste:", "", *row["snippet"].strip("\n").splitlines(), ""]
