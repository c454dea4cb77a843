"""Files that hold what was asked for or, as text, the reason why it could not be made.

So the step that makes one succeeds anyhow, and everything else goes on. When what was missing comes, the file's content
changes, and what depends on it is redone.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from crossover.errors import CrossoverError
from crossover.records import atomic


class BuildError(CrossoverError):
    """A product that cannot be made here; the message says why and what to do."""


def produce(product: Path, make: Callable[[Path], object]) -> str:
    """Have `make` write the product to a part file, which takes its place at once; or the message of its BuildError.

    Returns that message, the empty string if there was none. Any other error leaves what was there before.
    """
    reason = ""
    with atomic.replacing(product) as part:
        try:
            # Whatever makes it may work in another folder.
            make(part.absolute())
        except BuildError as error:
            reason = str(error)
            part.write_text(f"{reason}\n", encoding="utf-8")
    return reason


def reason_in(product: Path) -> str:
    """What a file that does not hold the product says instead, in one line; what to do if it says nothing."""
    return " ".join(product.read_text(encoding="utf-8", errors="replace").split()) or f"{product} is empty; delete it"
