"""Holes: their kinds, the error by which a launch becomes one, and the reasons for missing data.

Among the reasons are full file systems, and no more open files: they are recognised in exceptions and lines of text.
Only the standard library, because ranks load this module before they meet.
"""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import shutil
import socket
import tempfile
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from crossover.errors import CrossoverError
from crossover.paths import PACKAGE
from crossover.records.atomic import SPACE

if TYPE_CHECKING:
    # Every rank loads this module, and the rows would take it a twentieth of a second.
    from crossover.records.rows import Launch


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
    NOT_READY = "not ready"
    UNKNOWN_METRIC = "unknown metric"
    NO_VALUE = "no value"
    UNREADABLE = "unreadable file"


PASSING = (HoleKind.HOST_IN_USE, HoleKind.STRANGER, HoleKind.NO_SPACE, HoleKind.NOT_READY)
"""The kinds whose cause was not the launch's own and has probably passed; the next run measures such launches again."""

OF_CODE = (HoleKind.EXCEPTION, HoleKind.UNKNOWN_METRIC, HoleKind.NO_VALUE)
"""The kinds that faulty code can cause; when the code has changed, the next run measures such launches again."""

FILES = (errno.EMFILE, errno.ENFILE)
"""The errors of too many open files: in one process, and on the whole host."""
SHORTAGES = {os.strerror(number): number for number in (*SPACE, *FILES)}
HOST_NAME_CHARACTERS = 63
"""The longest host name with which MPICH starts; Linux allows one more."""
SHARED_MEMORY = Path("/dev/shm")
RANK_BYTES = 4 << 20
"""More than the shared memory of one MPI rank; MPICH 5 needs half as much."""
NEARLY_FULL_BYTES = 1 << 20
"""Less free space than this counts as none: the file that did not fit may have been larger, or be gone."""

LONGEST = 300
"""The most characters of an exception's message in a reason; the log has the whole message."""

_NO_THREAD = (
    "no more threads or processes can be started here; raise the limit with ulimit -u, or end processes of yours"
)
FAULTS = {
    "gethostname failed, File name too long": f"a host's name has more than {HOST_NAME_CHARACTERS} characters, which "
    "MPICH does not allow; shorten the name, or use another MPI, such as Open MPI",
    # OpenBLAS, Python, libzmq
    "pthread_create failed": _NO_THREAD,
    "can't start new thread": _NO_THREAD,
    "Resource temporarily unavailable (src/thread.cpp": _NO_THREAD,
}
"""Texts of programs that a host does not let run, with the cause and the remedy."""

_LINE = re.compile("|".join(map(re.escape, SHORTAGES)))
_PATH = re.compile(r"'(/[^']+)'")


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
        if lacking := shortage_behind(error):
            _keep(Refusal(HoleKind.NO_SPACE, lacking), file)
            raise
        _keep(Refusal(HoleKind.EXCEPTION, _in_words(error)), file)
        raise


def _keep(reason: Refusal, file: Path) -> None:
    # All later exceptions, in this rank or in others, are consequences of the first.
    with suppress(OSError), file.open("x", encoding="utf-8") as opened:
        json.dump([reason.kind, str(reason)], opened)


def _in_words(error: Exception) -> str:
    """An exception in one line: its type, its message, and the line of this package."""
    text, place = " ".join(str(error).split()), _place(error)
    short = text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."
    return type(error).__name__ + (f": {short}" if short else "") + (f" ({place})" if place else "")


def _place(error: Exception) -> str:
    """The line of this package that raised the error, or called the code that did; empty if unknown."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE) and frame.filename != __file__]
    if not own:
        return ""
    return f"{Path(own[-1].filename).relative_to(PACKAGE).as_posix()}, line {own[-1].lineno}"


def is_hole(launch: Launch) -> bool:
    """Whether a launch left no data."""
    return launch.outcome == "hole"


def alike(launches: Iterable[Launch]) -> list[list[Launch]]:
    """The holes among `launches`, grouped by experiment, placement, kind and reason."""
    found: dict[tuple[str, ...], list[Launch]] = {}
    for launch in filter(is_hole, launches):
        found.setdefault((launch.experiment, launch.placement, launch.hole, launch.reason), []).append(launch)
    return list(found.values())


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


def shortage_behind(error: BaseException) -> str:
    """The shortage that caused an exception, with the remedy; empty if there is none."""
    for each in _chain(error):
        # ZeroMQ's errors have a number too, but are no OSError.
        number = getattr(each, "errno", None)
        if isinstance(number, int) and number in SHORTAGES.values():
            filename = getattr(each, "filename", None)
            return _shortage(number, str(filename) if isinstance(filename, str | Path) else "")
    return ""


def first_shortage(lines: Iterable[str]) -> str:
    """The first shortage that a line of text reports, with the remedy; empty if there is none."""
    for line in lines:
        if found := _LINE.search(line):
            path = _PATH.search(line)
            return _shortage(SHORTAGES[found[0]], path[1] if path else "", line.strip())
    return ""


def fault_of_host(lines: Iterable[str]) -> str:
    """What a host does not allow, according to these lines, with the remedy; empty if they name nothing of the kind."""
    return next((fault for line in lines for text, fault in FAULTS.items() if text in line), "")


def unusable_shared_memory() -> str:
    """Why processes of this host cannot make shared memory, with the remedy; empty if they can."""
    if os.access(SHARED_MEMORY, os.W_OK | os.X_OK):
        return ""
    fault = "cannot be written to" if SHARED_MEMORY.is_dir() else "does not exist"
    return (
        f"{SHARED_MEMORY} on {socket.gethostname()} {fault}, and MPI and Python's semaphores need it; mount a tmpfs "
        "there, or bind it into the container"
    )


def shortage_of_shared_memory(ranks: int) -> str:
    """The lack of space for the shared memory of `ranks` ranks on this host; empty if there is enough.

    Linux ends a rank with a bus error when it uses shared memory that does not fit.
    """
    with suppress(OSError):
        free = shutil.disk_usage(SHARED_MEMORY).free
        if free < RANK_BYTES * ranks:
            needed = f"{free >> 20} MiB free, and {ranks} ranks need up to {RANK_BYTES * ranks >> 20} MiB"
            return f"{SHARED_MEMORY} on {socket.gethostname()} has {needed}; {_free(SHARED_MEMORY)}"
    return ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception, then those that it was raised from or during."""
    seen: set[int] = set()
    following: BaseException | None = error
    while following and id(following) not in seen:
        seen.add(id(following))
        yield following
        following = following.__cause__ or following.__context__


def _shortage(number: int, path: str = "", line: str = "") -> str:
    cause, host = os.strerror(number), socket.gethostname()
    if number == errno.EMFILE:
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return f"{cause}: a process may have {limit} here; raise the limit with ulimit -n"
    if number == errno.ENFILE:
        return f"{cause} by all processes of a host; end some there, or measure on another host"
    if number == errno.EDQUOT:
        place = _mount(path) if path else "a file system"
        return f"{cause}: your quota on {place} is used up; delete files of yours there"
    if full := [_mount(path)] if path else sorted({_mount(folder) for folder in _used() if _is_full(folder)}):
        return f"{cause}: {' and '.join(full)} on {host} is full; {_free(full[0])}"
    return f"{cause} ({line or 'the file is unknown'}); {_free('that file system')}"


def _free(place: str | Path) -> str:
    return f"remove files from {place}, or measure on another host"


def _used() -> tuple[str | Path, ...]:
    """The folders that a launch writes to on its hosts."""
    return SHARED_MEMORY, tempfile.gettempdir(), "."


def _is_full(folder: str | Path) -> bool:
    try:
        facts = os.statvfs(folder)
    except OSError:
        return False
    # Some file systems have no number of inodes.
    return facts.f_bavail * facts.f_frsize < NEARLY_FULL_BYTES or (facts.f_files > 0 and facts.f_favail == 0)


def _mount(path: str | Path) -> str:
    """The file system of a file: the folder where it is mounted."""
    place = Path(os.path.realpath(path))
    mount = next(each for each in (place, *place.parents) if os.path.ismount(each))
    temporary = Path(os.path.realpath(tempfile.gettempdir()))
    # Users can move their temporary files, but not a mount.
    return (
        f"{mount} (with TMPDIR, {temporary})" if place.is_relative_to(temporary) and mount != temporary else str(mount)
    )
