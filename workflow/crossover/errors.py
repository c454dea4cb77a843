"""The errors that users see: one family. Any other exception is a bug of crossover, and keeps its traceback."""

from __future__ import annotations


class CrossoverError(Exception):
    """Something that the user can mend: its message is a fact, the cause, and the next step.

    It has a subclass only where code catches that one alone.
    """
