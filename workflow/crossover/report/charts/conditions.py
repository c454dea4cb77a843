"""The conditions of an arm's curve, by the names of a published dataset's `conditions`: keys and entrant options."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from crossover.records.protocol import Keys

Conditions = dict[str, str]

LONG_SECONDS = 1
LONG = f"{LONG_SECONDS} s or longer"
"""The condition `burst` of a burst that is at least as long as pyzmq's script counts."""

DEFAULTS = {"hwm": 0, "ssh": False}
"""Options of an entrant that sets none; the key `packer` holds that of the packer."""

NO_OPTIONS = ("farm", "scheme", "alone")
"""Settings of an entrant that are not compared."""


def of(keys: Keys, arm: str, entrant: Mapping[str, Any]) -> Conditions:
    """The conditions of one arm of a curve; `entrant` has the arm's settings, empty for an arm that is no entrant.

    >>> of({"pattern": "PUSH/PULL", "transport": "ipc", "polled": False}, "copy", {})
    {'pattern': 'PUSH/PULL', 'transport': 'ipc', 'polled': 'no'}
    >>> of({"work": "empty", "engines": 4}, "one at a time", {"farm": "ipyparallel", "scheme": "leastload", "hwm": 1})
    {'work': 'empty', 'engines': '4', 'hwm': '1', 'ssh': 'no'}
    """
    found = {name: _text(value) for name, value in keys.items() if name not in ("burst_seconds", "entrant_options")}
    if "burst_seconds" in keys:
        found["burst"] = LONG if keys["burst_seconds"] >= LONG_SECONDS else f"{keys['burst_seconds']:g} s"
    if "work" in keys:
        options = DEFAULTS | dict(entrant) | json.loads(keys.get("entrant_options", "{}")).get(arm, {})
        found |= {name: _text(value) for name, value in options.items() if name not in NO_OPTIONS}
    return found


def _text(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
