"""Whether a folder can still take a file, a full disk or a used-up quota being noticed before the work is done."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from crossover.errors import CrossoverError

BYTES = 1 << 20
"""More than the raw file of a launch takes."""


def require(folder: str | Path) -> None:
    """Raise CrossoverError if no file of BYTES can be written into `folder`, which is made if it is not there."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        # Tried, because a quota is asked for differently everywhere; bytes that no file system makes smaller.
        with tempfile.TemporaryFile(dir=folder, prefix=".", suffix=".part") as probe:
            probe.write(os.urandom(BYTES))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        raise CrossoverError(
            f"{folder}: cannot be written to ({error.strerror}); make room there, or choose another folder with "
            "--config results=..., then the same command goes on"
        ) from None
