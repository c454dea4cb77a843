"""One launch: what its processes measure. It is made in the process that plans, and written beside its log."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from crossover.design.settings import Settings, canonical
from crossover.errors import CrossoverError

MPI_LIBRARY = "MPI library"
"""Among the versions of software of a launch: the library that its ranks loaded, in MPI's own words."""

LOADED = (MPI_LIBRARY, "libzmq", "python")
"""Software by what the ranks have loaded, whatever package it is from: launches that differ in it are never pooled."""


@dataclass(frozen=True)
class Launch:
    """One launch. Supervisor and ranks read it from its file; the raw file has the same settings."""

    experiment: str
    number: int
    """From 1; above plan.SECOND_SWEEP in the second sweep."""
    settings: Settings
    """With its `placement`, and with values for its heat only."""

    @property
    def placement(self) -> str:
        """Where its ranks are: `process`, `node` or `nodes`."""
        return str(self.settings["placement"])

    @property
    def identity(self) -> dict[str, Any]:
        """The columns of every table that name it."""
        return {"experiment": self.experiment, "placement": self.placement, "launch": self.number}

    def __str__(self) -> str:
        return f"{self.experiment} {self.placement} launch {self.number}"

    def write(self, file: Path) -> None:
        """Write its file, whole or not at all; another process may write the same at the same time."""
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f".{file.name}.{os.getpid()}")
        part.write_text(
            canonical({"experiment": self.experiment, "launch": self.number, "settings": self.settings}),
            encoding="utf-8",
        )
        part.replace(file)

    @classmethod
    def read(cls, file: Path) -> Self:
        """The launch of a file. Raises CrossoverError for a file of another kind."""
        try:
            told = json.loads(file.read_text(encoding="utf-8"))
            experiment, number, settings = told["experiment"], told["launch"], told["settings"]
            if not (isinstance(experiment, str) and isinstance(number, int) and isinstance(settings["placement"], str)):
                raise TypeError(file)
            return cls(experiment, number, settings)
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise CrossoverError(f"{file}: describes no launch; delete it, and repeat the command") from error
