"""Holes: their kinds, the error by which a launch becomes one, and the reasons for missing data."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Self, TypeVar

from crossover.errors import CrossoverError

Row = Mapping[Any, Any]
"""A row of record.LAUNCHES, or the same facts in the metadata of a raw file."""

Launch = TypeVar("Launch", bound=Row)


class HoleKind(StrEnum):
    """The kinds of holes, each with its `meaning`. The values are public: the column `hole` of record.LAUNCHES."""

    meaning: str

    def __new__(cls, value: str, meaning: str = "") -> Self:
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


def is_hole(launch: Row) -> bool:
    """Whether a launch left no data."""
    return launch.get("outcome") == "hole"


def alike(launches: Iterable[Launch]) -> list[list[Launch]]:
    """The holes among `launches`, grouped by experiment, placement, kind and reason."""
    found: dict[tuple[str, ...], list[Launch]] = {}
    for launch in filter(is_hole, launches):
        hole = tuple(launch[name] for name in ("experiment", "placement", "hole", "reason"))
        found.setdefault(hole, []).append(launch)
    return list(found.values())


def why(launches: Sequence[Row], experiment: str, placement: str | None = None) -> str:
    """The reason why an experiment has no data (in one placement, or at all), as Markdown; empty if it has some."""
    own = [row for row in launches if row["experiment"] == experiment]
    here = [row for row in own if placement is None or row["placement"] == placement]
    if not own:
        return f"`{experiment}` has no launch in this run; list it in config/config.yaml, and run it"
    if not here and placement == "nodes":
        return "placement `nodes` needs a cluster (`snakemake --profile slurm`)"
    if not here:
        return f"`{experiment}` was not launched in placement `{placement}`"
    if all(map(is_hole, here)):
        cause = f"{here[0]['hole']}: {here[0]['reason']}".replace("`", "'")
        return f"all its launches are holes, the first because of `{cause}`"
    return ""
