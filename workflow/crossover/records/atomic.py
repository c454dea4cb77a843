"""Files that are whole or absent, whatever happens meanwhile: written under a hidden name, renamed when on disk."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from crossover.errors import CrossoverError

HOST = socket.gethostname()


def hidden(path: Path, purpose: str = "") -> Path:
    """The part file of `path`; host and process are in its name, so that others know whether its writer is dead."""
    return path.with_name(f".{path.name}{purpose}.{HOST}.{os.getpid()}.part")


@contextmanager
def replacing(path: Path, step: str = "mend that, then run the same command") -> Iterator[Path]:
    """The part file to write to. It takes the place of `path` at the end, unless an exception is raised.

    Raises CrossoverError, with the next `step`, where the file system does not let it be written.
    """
    part = hidden(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        clear_stale_parts(path.parent)
        yield part
        _sync(part)
        part.replace(path)
        _sync(path.parent)
        # Whether a writer on another host is dead cannot be told from here. What it began is of no use any more.
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


def clear_stale_parts(folder: Path) -> None:
    """Remove the parts that dead writers of this host left in `folder`."""
    for part in folder.glob(f".*.{HOST}.*.part"):
        pid = part.name.split(".")[-2]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            part.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Wait until a file's content, or a folder's names, are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
