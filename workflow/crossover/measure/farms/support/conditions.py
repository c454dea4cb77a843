"""The keys that the curves of all task experiments share: the conditions of their farms.

An option of a single entrant is in the name of its arm (`leastload msgpack`), or else in the key `entrant_options`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from crossover.planning.plan import arms

SENDERS = 1
"""The number of clients that submit tasks: only rank 0 does."""

DEFAULTS: dict[str, Any] = {"packer": "json", "hwm": 0}
"""The options of ipyparallel's farms that change their rates, with their default values."""


def keys(settings: Mapping[str, Any]) -> dict[str, Any]:
    """These keys, from the settings of a launch.

    >>> keys({"reference": "pure", "arms": ["pure"]})
    {'senders': 1, 'packer': 'json'}
    """
    options = _unnamed(settings)
    shared = {"senders": SENDERS, "packer": DEFAULTS["packer"]}
    return shared | ({"entrant_options": json.dumps(options)} if options else {})


def _unnamed(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The options that are neither the default nor shown by the arm's name, by entrant."""
    entrants = settings.get("entrants", {})
    found: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(arm.runs for arm in arms(dict(settings))):
        for option, default in DEFAULTS.items():
            value = entrants.get(name, {}).get(option, default)
            words = str(value) if option == "packer" else f"{option} {value}"
            if value != default and words not in name:
                found.setdefault(name, {})[option] = value
    return found
