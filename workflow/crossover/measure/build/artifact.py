"""Files that hold a product or, as text, the reason why it could not be made.

So the step always succeeds, and everything else goes on. If the product can be made later, the file changes, and all
steps that depend on it are repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from crossover.errors import CrossoverError
from crossover.records import atomic


class BuildError(CrossoverError):
    """A product that cannot be made here; the message gives the reason and the remedy."""


def produce(product: Path, make: Callable[[Path], object]) -> str:
    """Write the product of `make`, or the message of its BuildError; the file appears whole.

    Returns that message; empty on success. After any other error, the old file stays.
    """
    reason = ""
    with atomic.replacing(product) as part:
        try:
            # Absolute, because a compiler may run in another folder.
            make(part.absolute())
        except BuildError as error:
            reason = str(error)
            part.write_text(f"{reason}\n", encoding="utf-8")
    return reason


def reason_in(product: Path) -> str:
    """The reason in a file without a product, in one line; for an empty file, the remedy."""
    return " ".join(product.read_text(encoding="utf-8", errors="replace").split()) or f"{product} is empty; delete it"
