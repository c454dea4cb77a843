"""The errors that users see: one family. Any other exception is a bug of crossover, and keeps its traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class CrossoverError(Exception):
    """A fault that the user can correct. The message gives the fact, the cause and the remedy.

    It has a subclass only where code catches only that one.
    """


def printable(text: str) -> str:
    """A text without the control characters that a terminal obeys, which may come from anybody's table."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "�" for sign in text)


@contextmanager
def plain() -> Iterator[None]:
    """Exit with code 1 and the message alone if a CrossoverError is raised."""
    try:
        yield
    except CrossoverError as error:
        sys.exit(printable(str(error)))
