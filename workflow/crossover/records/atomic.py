"""Writes files and folders whole or not at all: first under a hidden name, then renamed when they are complete.

Also checks for space in a folder, and that a path to read is a regular file.
"""

import errno
import os
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from io import FileIO
from pathlib import Path

from crossover.errors import CrossoverError

HOST = socket.gethostname()

SPACE = (errno.ENOSPC, errno.EDQUOT)
"""The errors of a full file system, and of a full quota."""

FIRST_NAMESPACE = "4026531836"
"""The PID namespace of a host; the number is a constant of Linux."""

PROBE_BYTES = 1 << 20
"""More than the size of a launch's raw file."""


def hidden(path: Path, purpose: str = "") -> Path:
    """The part file of `path`; its name contains host and process, so that others know whether its writer lives."""
    return path.with_name(f".{path.name}{purpose}.{HOST}.{process()}.part")


def namespace() -> str:
    """The PID namespace of this process, as containers have; empty for that of the host, which sees all processes."""
    name = Path("/proc/self/ns/pid").readlink().name.strip("pid:[]")
    return "" if name == FIRST_NAMESPACE else f"n{name}"


def process() -> str:
    """This process, as part of the names of its files."""
    return f"{os.getpid()}{namespace()}"


def is_dead(name: str) -> bool:
    """Whether the process with this name has certainly ended; unknown, so False, for one of another PID namespace."""
    pid, mark, number = name.partition("n")
    if mark + number != namespace() or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        pass
    return False


@contextmanager
def replacing(path: Path, step: str = "correct that, then repeat the command") -> Iterator[Path]:
    """The part file to write to. It replaces `path` at the end, unless an exception is raised.

    Raises CrossoverError, with the next `step`, if the file cannot be written.
    """
    part = hidden(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        clear_stale_parts(path.parent)
        # A link of this name, in a folder that others can write to.
        part.unlink(missing_ok=True)
        yield part
        _sync(part)
        part.replace(path)
        _sync(path.parent)
        # A writer on another host may be alive or dead, but its part is no longer needed.
        for other in path.parent.glob(f"*.{escape(path.name)}.*.part"):
            if f".{HOST}." not in other.name:
                other.unlink(missing_ok=True)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        about = f"{error.filename}: " if error.filename not in (None, str(part)) else ""
        raise CrossoverError(f"{path}: cannot be written ({about}{why}); {step}") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def fresh(log: Path) -> FileIO:
    """A new log, unbuffered, in place of an old one, or of a link, whose target stays. Raises OSError."""
    log.unlink(missing_ok=True)
    return log.open("xb", buffering=0)


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """The same for a folder with all its files, which replaces an earlier one."""
    part = hidden(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    clear_stale_parts(folder.parent)
    part.mkdir()
    try:
        yield part
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def clear_parts(path: Path) -> None:
    """Remove the parts of files whose names begin with that of `path`, whoever wrote them."""
    for part in path.parent.glob(f".{escape(path.name)}.*.part"):
        part.unlink(missing_ok=True)


def clear_stale_parts(folder: Path) -> None:
    """Remove the parts of dead writers of this host in `folder`."""
    for part in folder.glob(f".*.{HOST}.*.part"):
        if is_dead(part.name.split(".")[-2]):
            if part.is_dir():
                shutil.rmtree(part, ignore_errors=True)
            else:
                part.unlink(missing_ok=True)


def regular(path: Path) -> Path:
    """The path of a regular file. Raises OSError for any other, such as a FIFO, which blocks whoever opens it."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    return path


def require_space(folder: str | Path) -> None:
    """Raise CrossoverError if no file of PROBE_BYTES can be written into `folder`; creates the folder if needed.

    So a full disk or quota is noticed before the work is done.
    """
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        # A test write, because every system reports quotas differently; random bytes, because they do not compress.
        with tempfile.TemporaryFile(dir=folder, prefix=".", suffix=".part") as probe:
            probe.write(os.urandom(PROBE_BYTES))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        step = "free some space there" if error.errno in SPACE else "make it writable"
        raise CrossoverError(
            f"{folder}: cannot be written to ({error.strerror}); {step}, or choose another folder with "
            "--config results=..., then repeat the command"
        ) from None


def _sync(path: Path) -> None:
    """Wait until a file's content, or a folder's names, are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
