"""The errors that users see: one family. Any other exception is a bug of crossover, and keeps its traceback."""


class CrossoverError(Exception):
    """A fault that the user can correct. The message gives the fact, the cause and the remedy.

    It has a subclass only where code catches only that one.
    """
