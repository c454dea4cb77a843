"""The recommendations as TOML, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import tomli_w

Row = dict[str, Any]

HEAD = """\
# Settings that crossover recommends for the machine it ran on; docs/data.md explains the keys.
# A setting without a recommendation keeps its default.

"""


def toml(rows: Sequence[Row]) -> str:
    """The text of a file with two lists of tables, from rows of record.RECOMMENDATIONS.

    A key without a known value is left out, because TOML has no null.
    """
    lists = {
        "recommended": [_entry(row) for row in rows if row["recommended"]],
        "no_recommendation": [_entry(row) for row in rows if not row["recommended"]],
    }
    return HEAD + tomli_w.dumps({name: entries for name, entries in lists.items() if entries}, multiline_strings=True)


def _entry(row: Row) -> Row:
    return _known(
        {
            "library": row["library"],
            "setting": row["setting"],
            "about": row["about"],
            "aims": json.loads(row["aims"]),
            "value": json.loads(row["value"]) if row["value"] else None,
            "reason": row["reason"],
            "snippet": row["snippet"],
            "place": _known({"x": row["x"], "low": row["low"], "high": row["high"], "unit": row["axis_unit"]})
            if row["x"] is not None
            else None,
            "gain": _known(
                {
                    "factor": row["gain"],
                    "low": row["gain_low"],
                    "high": row["gain_high"],
                    "over": row["default"],
                    "from": row["gain_from"],
                    "to": row["gain_to"],
                    "unit": row["axis_unit"],
                    "smallest_detectable": row["smallest_effect"],
                    "alternatives_tried": row["tried"],
                }
            )
            if row["gain"] is not None
            else None,
            "holds_for": _known({name: row[name] for name in ("condition", "placement", "protocol")}),
            "effects": [_known(effect) for effect in json.loads(row["effects"])] if row["effects"] else None,
            "measured_by": _known(
                {
                    "experiment": row["experiment"],
                    "metric": row["metric"],
                    "arm": row["arm"],
                    "arms": json.loads(row["arms"]) if row["arms"] else None,
                    "launches": row["launches"],
                }
            ),
        }
    )


def _known(entry: Row) -> Row:
    return {key: value for key, value in entry.items() if value is not None and value not in ({}, [])}
