"""The recommendations as TOML, for people and for programs."""

import json
from collections.abc import Sequence

import tomli_w

from crossover.analyse.curves.curve import Row

HEAD = """\
# Settings that crossover recommends for the machine it ran on; docs/data.md explains the keys.
# A setting without a recommendation keeps its default.

"""

TABLES = {
    "place": {"x": "x", "low": "low", "high": "high", "unit": "axis_unit"},
    "gain": {"low": "gain_low", "high": "gain_high", "over": "default"},
    "measured_by": {name: name for name in ("experiment", "placement", "protocol", "metric", "arm", "launches")},
}
"""The columns of the table behind each key, by the names of the tables of an entry."""


def toml(rows: Sequence[Row]) -> str:
    """The text of a file with two lists of tables, from rows of record.RECOMMENDATIONS, without nulls."""
    lists = {
        "recommended": [_entry(row) for row in rows if row["recommended"]],
        "no_recommendation": [_entry(row) for row in rows if not row["recommended"]],
    }
    return HEAD + tomli_w.dumps({name: entries for name, entries in lists.items() if entries}, multiline_strings=True)


def _entry(row: Row) -> Row:
    row = row | {name: json.loads(row[name]) for name in ("value", "points") if row[name]}
    own = ("library", "setting", "about", "value", "reason", "snippet", "guarantee", "points")
    parts = {
        name: _known({key: row[column] for key, column in columns.items()})
        for name, columns in TABLES.items()
        if name != "gain" or row["gain_low"] is not None
        if name != "place" or row["x"] is not None
    }
    return _known({name: row[name] for name in own}) | parts


def _known(entry: Row) -> Row:
    return {key: value for key, value in entry.items() if value is not None and value not in ({}, [])}
