"""Holes: their kinds with the next steps, the error by which a launch becomes one, the reasons for missing data.

Only the standard library, because ranks load this module before they meet.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import socket
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from crossover.errors import CrossoverError, printable
from crossover.paths import PACKAGE

if TYPE_CHECKING:
    # Every rank loads this module, and the rows would take it a twentieth of a second.
    from crossover.records.rows import Launch


class HoleKind(StrEnum):
    """The kinds of holes, one for each next step; docs/data.md explains them.

    The values are public: the column `hole` of record.LAUNCHES. A kind of an earlier version is found by its old value.
    """

    DISTURBED = "disturbed"
    EXCEPTION = "exception"
    CRASHED = "crashed"
    WRONG_SETUP = "wrong set-up"
    NOT_BUILT = "not built"
    UNREADABLE = "unreadable file"

    @classmethod
    def _missing_(cls, value: object) -> HoleKind:
        return EARLIER.get(str(value), cls.CRASHED)


EARLIER = {
    **dict.fromkeys(("host in use", "stranger", "no space", "not ready"), HoleKind.DISTURBED),
    **dict.fromkeys(("unknown metric", "no value"), HoleKind.EXCEPTION),
}
"""The kinds of earlier versions that have another next step than a crash."""

HOST_NAME_CHARACTERS = 63
"""The longest host name with which MPICH starts; Linux allows one more."""
SHARED_MEMORY = Path("/dev/shm")

LONGEST = 300
"""The most characters of a program's message in a reason; the log has the whole message."""

_SPACE = "remove files from it, or measure on another host"
SHORTAGES = {
    os.strerror(errno.ENOSPC): f"a file system is full (df shows which); {_SPACE}",
    os.strerror(errno.EDQUOT): "your quota on a file system is used up; delete files of yours there",
    "Bus error": f"{SHARED_MEMORY} was probably full; {_SPACE}",
    os.strerror(errno.ENFILE): "a host has too many open files; end processes there, or measure on another host",
    os.strerror(errno.EMFILE): "a process has too many open files; raise the limit with ulimit -n",
}
"""Texts of programs that a host lacks something for, with the cause and the remedy."""

_NO_THREAD = (
    "no more threads or processes can be started here; raise the limit with ulimit -u, or end processes of yours"
)
LIMITS = {
    "gethostname failed, File name too long": f"a host's name has more than {HOST_NAME_CHARACTERS} characters, which "
    "MPICH does not allow; shorten the name, or use another MPI, such as Open MPI",
    # OpenBLAS, Python, libzmq
    "pthread_create failed": _NO_THREAD,
    "can't start new thread": _NO_THREAD,
    "Resource temporarily unavailable (src/thread.cpp": _NO_THREAD,
}
"""The same for programs that a host does not let run."""

_PATH = re.compile(r"'(/[^']+)'")


class Refusal(CrossoverError):
    """A launch that must not be measured: `kind` is the hole's kind; the message gives the reason and the remedy."""

    def __init__(self, kind: HoleKind, reason: str):
        self.kind = HoleKind(kind)
        super().__init__(reason)


def retry(kind: str, receipts: Sequence[str]) -> str:
    """What measures holes of one kind again."""
    kind, by_itself = HoleKind(kind), f"the next run retries {'it' if len(receipts) == 1 else 'them'}"
    if kind == HoleKind.DISTURBED:
        return by_itself
    corrected = f"once the code is correct, {by_itself}; " if kind == HoleKind.EXCEPTION else ""
    return f"{corrected}to retry, repeat the command with: -R {shlex.join(receipts)}"


@contextmanager
def reason_kept(file: Path) -> Iterator[None]:
    """Write the reason of an exception to `file`, unless one is there, and raise it again.

    The reason is that of a Refusal, a fault of the host, or the exception and its line in this package.
    """
    try:
        yield
    except Exception as error:
        found = error if isinstance(error, Refusal) else fault_behind(error)
        kept = found or Refusal(HoleKind.EXCEPTION, _in_words(error))
        # All later exceptions, in this rank or in others, are consequences of the first.
        with suppress(OSError), file.open("x", encoding="utf-8") as opened:
            json.dump([kept.kind, str(kept)], opened)
        raise


def _in_words(error: Exception) -> str:
    """An exception in one line: its type, its message, and the last line of this package on its way.

    A CrossoverError is such a line already.
    """
    if type(error) is CrossoverError:
        return printable(str(error))
    text = " ".join(str(error).split())[:LONGEST]
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE) and frame.filename != __file__]
    place = f" ({Path(own[-1].filename).relative_to(PACKAGE).as_posix()}, line {own[-1].lineno})" if own else ""
    return type(error).__name__ + (f": {text}" if text else "") + place


def is_hole(launch: Launch) -> bool:
    """Whether a launch left no data."""
    return launch.outcome == "hole"


def alike(launches: Iterable[Launch]) -> list[list[Launch]]:
    """The holes among `launches`, grouped by experiment, placement, kind and `cause`."""
    found: dict[tuple[str, ...], list[Launch]] = {}
    for launch in filter(is_hole, launches):
        key = (launch.experiment, launch.placement, launch.hole, cause(launch.reason or ""))
        found.setdefault(key, []).append(launch)
    return list(found.values())


def cause(reason: str) -> str:
    """What reasons of one cause share, whatever sizes, counts and hosts they name.

    >>> cause("node-3: needs 1,024 B of 512.5 B") == cause("node-12: needs 2 B of 1 B")
    True
    """
    return re.sub(r"\d([\d.,]*\d)?", "#", reason)


def why(launches: Sequence[Launch], experiment: str, placement: str | None = None) -> str:
    """The reason why an experiment has no data (in one placement, or at all), as Markdown; empty if it has some."""
    own = [row for row in launches if row.experiment == experiment]
    here = [row for row in own if placement is None or row.placement == placement]
    if not own:
        return f"`{experiment}` has no launch in this run; list it in config/config.yaml, and run it"
    if not here and placement == "nodes":
        return "placement `nodes` needs a cluster (`snakemake --profile slurm`)"
    if not here:
        return f"`{experiment}` was not launched in placement `{placement}`"
    if all(map(is_hole, here)):
        cause = f"{here[0].hole}: {here[0].reason}".replace("`", "'")
        return f"all its launches are holes, the first because of `{cause}`"
    return ""


def fault_behind(error: BaseException) -> Refusal | None:
    """The fault of this host that caused an exception; None if there is none."""
    lines: list[str] = []
    following: BaseException | None = error
    while following and len(lines) < LONGEST:
        lines.append(f"{socket.gethostname()}: {following}")
        following = following.__cause__ or following.__context__
    return fault_of_host(lines)


def fault_of_host(lines: Iterable[str]) -> Refusal | None:
    """What a host does not allow, according to these lines, with the remedy; None if they name nothing of the kind."""
    for line in lines:
        for text, fault in (LIMITS | SHORTAGES).items():
            if text in line and text in LIMITS:
                return Refusal(HoleKind.WRONG_SETUP, fault)
            if text in line:
                # Launches with equal reasons are named together, so file systems stand for files.
                said = _PATH.sub(lambda path: _mount(path[1]), " ".join(line.split()))[:LONGEST]
                return Refusal(HoleKind.DISTURBED, f"{fault} ({said})")
    if os.access(SHARED_MEMORY, os.W_OK | os.X_OK):
        return None
    return Refusal(
        HoleKind.WRONG_SETUP,
        f"{SHARED_MEMORY} on {socket.gethostname()} is missing or cannot be written to, and MPI and Python's "
        "semaphores need it; mount a tmpfs there, or bind it into the container",
    )


def _mount(path: str) -> str:
    """The file system of a file: the folder where it is mounted."""
    place = Path(os.path.realpath(path))
    return str(next(each for each in (place, *place.parents) if os.path.ismount(each)))
