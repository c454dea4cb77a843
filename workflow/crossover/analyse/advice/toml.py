"""The recommendations as TOML, for people and for programs."""

import json
from collections.abc import Sequence

import tomli_w

from crossover.analyse.curves.curve import Row

HEAD = """\
# Settings that crossover recommends for the machine it ran on; docs/data.md explains the keys.
# A setting without a recommendation keeps its default.

"""


PLACE = {"x": "x", "low": "low", "high": "high", "unit": "axis_unit"}
GAIN = {
    "factor": "gain",
    "low": "gain_low",
    "high": "gain_high",
    "over": "default",
    "from": "gain_from",
    "to": "gain_to",
    "unit": "axis_unit",
    "smallest_detectable": "smallest_effect",
    "alternatives_tried": "tried",
}
HOLDS_FOR = {name: name for name in ("condition", "placement", "protocol")}
MEASURED_BY = {name: name for name in ("experiment", "metric", "arm", "arms", "launches")}
"""The columns of the table behind each key."""


def toml(rows: Sequence[Row]) -> str:
    """The text of a file with two lists of tables, from rows of record.RECOMMENDATIONS, without nulls."""
    lists = {
        "recommended": [_entry(row) for row in rows if row["recommended"]],
        "no_recommendation": [_entry(row) for row in rows if not row["recommended"]],
    }
    return HEAD + tomli_w.dumps({name: entries for name, entries in lists.items() if entries}, multiline_strings=True)


def _entry(row: Row) -> Row:
    row = row | {name: json.loads(row[name]) for name in ("aims", "value", "points", "effects", "arms") if row[name]}

    def columns(names: dict[str, str]) -> Row:
        return _known({key: row[name] for key, name in names.items()})

    return _known(
        {
            **{name: row[name] for name in ("library", "setting", "about", "aims", "value", "reason", "snippet")},
            "place": columns(PLACE) if row["x"] is not None else None,
            "gain": columns(GAIN) if row["gain"] is not None else None,
            "points": row["points"],
            "holds_for": columns(HOLDS_FOR),
            "effects": [_known(effect) for effect in row["effects"] or ()],
            "measured_by": columns(MEASURED_BY),
        }
    )


def _known(entry: Row) -> Row:
    return {key: value for key, value in entry.items() if value is not None and value not in ({}, [])}
