"""One launch: what its processes measure. It is made in the process that plans, and written beside its log."""

import json
from dataclasses import dataclass, field
from typing import Any

from crossover.design.settings import Settings

MPI_LIBRARY = "MPI library"
"""Among the versions of software of a launch: the library that its ranks loaded, in MPI's own words."""

LOADED = (MPI_LIBRARY, "libzmq", "python")
"""Software by what the ranks have loaded, whatever package it is from: launches that differ in it are never pooled."""

MOST_LAUNCHES = 10_000
"""The largest number of a launch. Earlier releases measured points inside crossovers by launches above it."""


@dataclass(frozen=True)
class Launch:
    """One launch, identified by experiment, placement and number. The raw file has the same settings."""

    experiment: str
    placement: str
    """Where its ranks are: `process`, `node` or `nodes`."""
    number: int
    """From 1 to MOST_LAUNCHES."""
    settings: Settings = field(compare=False, repr=False)
    repetition: int = field(default=0, compare=False)
    """How many launches before it have the same settings."""

    @property
    def name(self) -> tuple[str, str, int]:
        """What identifies it."""
        return self.experiment, self.placement, self.number

    @property
    def identity(self) -> dict[str, Any]:
        """The columns of every table that name it."""
        return {"experiment": self.experiment, "placement": self.placement, "launch": self.number}

    def __str__(self) -> str:
        return f"{self.experiment} {self.placement} launch {self.number}"

    @property
    def stored(self) -> str:
        """The content of its file: identity and settings, as JSON."""
        return json.dumps({**self.identity, "settings": self.settings.stored}, sort_keys=True)
