"""Holes: their kinds, and the error by which a launch becomes a hole."""

from __future__ import annotations

from enum import StrEnum

from crossover.errors import CrossoverError


class HoleKind(StrEnum):
    """The kinds of holes, each with its `meaning`. The values are public: the column `hole` of record.LAUNCHES."""

    meaning: str

    def __new__(cls, value: str, meaning: str = "") -> HoleKind:
        """A member whose value is `value` alone."""
        kind = str.__new__(cls, value)
        kind._value_, kind.meaning = value, meaning
        return kind

    TIMED_OUT = "timed out", "The ranks were not finished within the launch's time limit."
    CRASHED = "crashed", "The ranks, or a server that they need, ended early or did not start."
    NOT_INSTALLED = "not installed", "A program or a Python library that the launch needs is missing."
    NOT_BUILT = "not built", "A library that is compiled for the launch is missing."
    WRONG_LIBRARY = "wrong library", "A compiled library is another build than its name says."
    WRONG_PLACEMENT = (
        "wrong placement",
        "Ranks started on the wrong hosts or processors, or not all of them started.",
    )
    WRONG_INTERFACE = "wrong interface", "A host has no such network interface, or none could be chosen."
    WRONG_THREAD_LEVEL = "wrong thread level", "MPI runs at another thread level than requested."
    HOST_IN_USE = "host in use", "Another launch of the same user was being measured on a host."
    STRANGER = "stranger", "Somebody else connected to a channel between the ranks."
    ANOTHER_MACHINE = "another machine", "The second sweep ran on a host without the curves of the first."
    UNKNOWN_METRIC = "unknown metric", "The experiment's driver gave a metric that it does not declare."
    NO_VALUE = "no value", "No block gave a value or a fault."


class Refusal(CrossoverError):
    """A launch that must not be measured: `kind` is the hole's kind; the message gives the reason and the remedy."""

    def __init__(self, kind: HoleKind, reason: str):
        self.kind = HoleKind(kind)
        super().__init__(reason)
