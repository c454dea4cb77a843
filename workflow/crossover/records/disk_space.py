"""Checks for space in a folder, so that a full disk or quota is noticed before the work is done."""

import os
import tempfile
from pathlib import Path

from crossover.errors import CrossoverError
from crossover.records.shortage import SPACE

BYTES = 1 << 20
"""More than the size of a launch's raw file."""


def require(folder: str | Path) -> None:
    """Raise CrossoverError if no file of BYTES can be written into `folder`; creates the folder if needed."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        # A test write, because every system reports quotas differently; random bytes, because they do not compress.
        with tempfile.TemporaryFile(dir=folder, prefix=".", suffix=".part") as probe:
            probe.write(os.urandom(BYTES))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        step = "free some space there" if error.errno in SPACE else "make it writable"
        raise CrossoverError(
            f"{folder}: cannot be written to ({error.strerror}); {step}, or choose another folder with "
            "--config results=..., then repeat the command"
        ) from None
