"""Under which conditions an arm of a curve was measured: the curve's keys, and what the arm's name adds to them.

They are what a published dataset states under `conditions`, by the same names and as text.
"""

from __future__ import annotations

import json
import re

from crossover.records.protocol import Keys

Conditions = dict[str, str]

LONG_SECONDS = 1
LONG = f"{LONG_SECONDS} s or longer"
"""How a burst is said to last that is as long as pyzmq's script counts, or longer."""

OPTIONS = {"packer": r" (json|msgpack|pickle)\b", "hwm": r" hwm (\d+)"}
"""What the name of a farm's arm adds to that of its scheduler, as its tunnel does."""
TUNNEL = " over ssh"


def of(keys: Keys, arm: str) -> Conditions:
    """The conditions of one arm of a curve.

    >>> of({"pattern": "PUSH/PULL", "transport": "ipc", "polled": False}, "copy")
    {'pattern': 'PUSH/PULL', 'transport': 'ipc', 'polled': 'no'}
    >>> of({"work": "empty", "engines": 4}, "leastload hwm 1")
    {'work': 'empty', 'engines': '4', 'hwm': '1', 'ssh': 'no'}
    """
    found = {name: _text(value) for name, value in keys.items() if name not in ("burst_seconds", "entrant_options")}
    if "burst_seconds" in keys:
        found["burst"] = LONG if keys["burst_seconds"] >= LONG_SECONDS else f"{keys['burst_seconds']:g} s"
    if "work" in keys:
        options = json.loads(keys.get("entrant_options", "{}")).get(arm, {})
        found |= {"hwm": "0", "ssh": _text(TUNNEL in arm)} | _named(arm)
        found |= {name: _text(value) for name, value in options.items()}
    return found


def family(arm: str) -> str:
    """An arm's name without its options.

    >>> family("leastload msgpack"), family("pure over ssh"), family("no-copy")
    ('leastload', 'pure', 'no-copy')
    """
    return re.sub("|".join([*OPTIONS.values(), TUNNEL]), "", arm)


def _named(arm: str) -> Conditions:
    return {key: hit[1] for key, pattern in OPTIONS.items() if (hit := re.search(pattern, arm))}


def _text(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
