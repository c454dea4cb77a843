"""The conditions of a task farm that are keys of its curves: fixed in a launch, the same for all arms.

An option of a single entrant is named by its arm (`leastload msgpack`); else the key `entrant_options` holds it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from crossover.planning.plan import arms

SENDERS = 1
"""Clients that submit tasks: one, on rank 0."""

DEFAULTS: dict[str, Any] = {"packer": "json", "hwm": 0}
"""The options of ipyparallel's farms that change their rates, with the values of an entrant that sets none."""


def keys(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that the curves of all task experiments share.

    >>> keys({"reference": "pure", "arms": ["pure"]})
    {'senders': 1, 'packer': 'json'}
    """
    options = _unnamed(settings)
    shared = {"senders": SENDERS, "packer": DEFAULTS["packer"]}
    return shared | ({"entrant_options": json.dumps(options)} if options else {})


def _unnamed(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By entrant, the options that are not the default and that the arm's name does not show."""
    entrants = settings.get("entrants", {})
    found: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(arm.runs for arm in arms(dict(settings))):
        for option, default in DEFAULTS.items():
            value = entrants.get(name, {}).get(option, default)
            words = str(value) if option == "packer" else f"{option} {value}"
            if value != default and words not in name:
                found.setdefault(name, {})[option] = value
    return found
