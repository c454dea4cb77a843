"""Loads the libraries that were built for this launch; the supervisor passes their paths in an environment variable."""

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path

from crossover.records.holes import HoleKind, Refusal

VARIABLE = "CROSSOVER_LIBRARIES"
"""The environment variable with the libraries' paths."""


class UnavailableError(Refusal):
    """A library that is not there; a ceiling that needs it has no values, any other launch that needs it is refused."""

    def __init__(self, reason: str):
        super().__init__(HoleKind.NOT_BUILT, reason)


def variables(libraries: Sequence[Path]) -> dict[str, str]:
    """The environment variables by which ranks find these libraries."""
    return {VARIABLE: os.pathsep.join(str(path.absolute()) for path in libraries)}


def reason_in(product: Path) -> str:
    """The reason in a file without a library, in one line; for an empty file, the remedy."""
    return " ".join(product.read_text(encoding="utf-8", errors="replace").split()) or f"{product} is empty; delete it"


def load(name: str) -> ctypes.CDLL:
    """The library built from `workflow/native/{name}.c`. Raises UnavailableError with the reason if there is none."""
    paths = (Path(path) for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path)
    path = next((path for path in paths if path.stem == name), None)
    if path is None:
        raise UnavailableError(
            f"the launch was given no library {name}; start it through Snakemake, or name the file with --libraries"
        )
    try:
        if not path.read_bytes().startswith(b"\x7fELF"):
            raise UnavailableError(reason_in(path))
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise UnavailableError(f"{path} cannot be loaded ({error}); delete it and run again") from error
