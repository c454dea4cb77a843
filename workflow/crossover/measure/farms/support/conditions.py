"""The conditions of a task farm that its protocol names: the same for all arms, fixed in a launch, and of influence.

An option of a single entrant is named by its arm (`leastload msgpack`). Where it is not, the protocol names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crossover.planning.plan import arms

SENDERS = 1
"""Clients that submit tasks: one, on rank 0."""

DEFAULTS: dict[str, Any] = {"packer": "json", "hwm": 0}
"""The options of ipyparallel's farms that change their rates, with the values of an entrant that sets none."""


def protocol(settings: Mapping[str, Any], *parts: str) -> str:
    """The name of a curve: its own `parts`, then the conditions that all task experiments share.

    >>> protocol({"reference": "pure", "arms": ["pure"]}, "empty tasks", "engines: 2")
    'empty tasks, engines: 2, senders: 1, packer: json'
    """
    shared = (f"senders: {SENDERS}", f"packer: {DEFAULTS['packer']}")
    return ", ".join([*parts, *shared, *_unnamed(settings)])


def _unnamed(settings: Mapping[str, Any]) -> list[str]:
    """The options of entrants that are not the default and that the arm's name does not show."""
    entrants = settings.get("entrants", {})
    found = []
    for name in dict.fromkeys(arm.runs for arm in arms(dict(settings))):
        for option, default in DEFAULTS.items():
            value = entrants.get(name, {}).get(option, default)
            words = str(value) if option == "packer" else f"{option} {value}"
            if value != default and words not in name:
                found.append(f"{option} of {name}: {value}")
    return found
