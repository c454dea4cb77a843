"""Holes: their kinds, the error by which a launch becomes one, and the reasons for missing data."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from crossover.errors import CrossoverError
from crossover.records import shortage

Row = Mapping[Any, Any]
"""A row of record.LAUNCHES, or the same facts in the metadata of a raw file."""

Launch = TypeVar("Launch", bound=Row)


class HoleKind(StrEnum):
    """The kinds of holes; docs/data.md explains each. The values are public: the column `hole` of record.LAUNCHES."""

    TIMED_OUT = "timed out"
    CRASHED = "crashed"
    EXCEPTION = "exception"
    NOT_INSTALLED = "not installed"
    NOT_BUILT = "not built"
    WRONG_LIBRARY = "wrong library"
    WRONG_PLACEMENT = "wrong placement"
    WRONG_INTERFACE = "wrong interface"
    WRONG_THREAD_LEVEL = "wrong thread level"
    HOST_IN_USE = "host in use"
    STRANGER = "stranger"
    NO_SPACE = "no space"
    ANOTHER_MACHINE = "another machine"
    UNKNOWN_METRIC = "unknown metric"
    NO_VALUE = "no value"
    UNREADABLE = "unreadable file"


PASSING = (HoleKind.HOST_IN_USE, HoleKind.STRANGER, HoleKind.NO_SPACE)
"""The kinds whose cause was not the launch's own and has probably passed; the next run measures such launches again."""

OF_CODE = (HoleKind.EXCEPTION, HoleKind.UNKNOWN_METRIC, HoleKind.NO_VALUE)
"""The kinds that faulty code can cause; when the code has changed, the next run measures such launches again."""


class Refusal(CrossoverError):
    """A launch that must not be measured: `kind` is the hole's kind; the message gives the reason and the remedy."""

    def __init__(self, kind: HoleKind, reason: str):
        self.kind = HoleKind(kind)
        super().__init__(reason)


@contextmanager
def reason_kept(file: Path) -> Iterator[None]:
    """Write the reason of an exception to `file`, unless one is there, and raise it again.

    The reason is that of a Refusal, a shortage of space or of open files, or the exception and its line in this
    package.
    """
    try:
        yield
    except Refusal as reason:
        _keep(reason, file)
        raise
    except Exception as error:
        if lacking := shortage.of(error):
            _keep(Refusal(HoleKind.NO_SPACE, lacking), file)
            raise
        # Imported here, because ranks load this module before they meet.
        from crossover.records import failure

        _keep(Refusal(HoleKind.EXCEPTION, failure.words(error)), file)
        raise


def _keep(reason: Refusal, file: Path) -> None:
    # All later exceptions, in this rank or in others, are consequences of the first.
    with suppress(OSError), file.open("x", encoding="utf-8") as opened:
        json.dump([reason.kind, str(reason)], opened)


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
