"""Full file systems, and no more open files: recognises them in exceptions and lines of text, and names the remedy.

Only the standard library, because ranks load this module before they meet.
"""

import errno
import os
import re
import resource
import shutil
import socket
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

SPACE = (errno.ENOSPC, errno.EDQUOT)
"""The errors of a full file system, and of a full quota."""
FILES = (errno.EMFILE, errno.ENFILE)
"""The errors of too many open files: in one process, and on the whole host."""
WORDS = {os.strerror(number): number for number in (*SPACE, *FILES)}
SHARED_MEMORY = Path("/dev/shm")
RANK_BYTES = 4 << 20
"""More than the shared memory of one MPI rank; MPICH 5 needs half as much."""
NEARLY_FULL_BYTES = 1 << 20
"""Less free space than this counts as none: the file that did not fit may have been larger, or be gone."""

_LINE = re.compile("|".join(map(re.escape, WORDS)))
_PATH = re.compile(r"'(/[^']+)'")


def of(error: BaseException) -> str:
    """The shortage that caused an exception, with the remedy; empty if there is none."""
    for each in _chain(error):
        # ZeroMQ's errors have a number too, but are no OSError.
        number = getattr(each, "errno", None)
        if isinstance(number, int) and number in WORDS.values():
            filename = getattr(each, "filename", None)
            return _sentence(number, str(filename) if isinstance(filename, str | Path) else "")
    return ""


def first(lines: Iterable[str]) -> str:
    """The first shortage that a line of text reports, with the remedy; empty if there is none."""
    for line in lines:
        if found := _LINE.search(line):
            path = _PATH.search(line)
            return _sentence(WORDS[found[0]], path[1] if path else "", line.strip())
    return ""


def unusable_shared_memory() -> str:
    """Why processes of this host cannot make shared memory, with the remedy; empty if they can."""
    if os.access(SHARED_MEMORY, os.W_OK | os.X_OK):
        return ""
    fault = "cannot be written to" if SHARED_MEMORY.is_dir() else "does not exist"
    return (
        f"{SHARED_MEMORY} on {socket.gethostname()} {fault}, and MPI and Python's semaphores need it; mount a tmpfs "
        "there, or bind it into the container"
    )


def of_shared_memory(ranks: int) -> str:
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


def _sentence(number: int, path: str = "", line: str = "") -> str:
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
