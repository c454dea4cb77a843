"""The claim on a folder of results: one run at a time works there, on this host or any other that shares the folder.

The kernel's lock on the file `.claim` ends with its process, even if that is killed. Not every file system shares locks
between hosts, so the holder also renews the file's time, which another host compares with the file system's own clock.
"""

import atexit
import fcntl
import os
import socket
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from crossover.errors import CrossoverError

RENEWAL_SECONDS = 5
"""The time between two renewals."""

STALE_SECONDS = 60
"""The age after which a claim of another host has no holder; a shared file system may show times late."""


def claim(results: str | Path) -> None:
    """Claim `results` until this process ends.

    Raises CrossoverError if another run holds the claim, or held it on another host until a moment ago and was killed.
    """
    Path(results).mkdir(parents=True, exist_ok=True)
    file = Path(results) / ".claim"
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    locked = _lock(handle)
    holder = os.read(handle, 256).decode(errors="replace").strip()
    elsewhere = " on " in holder and not holder.endswith(f" on {socket.gethostname()}")
    age = _age_seconds(file)
    if locked is False or (holder and age < STALE_SECONDS and (elsewhere or locked is None)):
        os.close(handle)
        killed = f"; if it was killed, this folder is free {STALE_SECONDS - age:.0f} s from now" if locked else ""
        raise CrossoverError(
            f"another run ({holder}) works in {results}; wait for it, end it, or choose another folder with "
            f"--config results=...{killed}"
        )
    os.truncate(handle, 0)
    os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
    ended = threading.Event()
    threading.Thread(target=_renew, args=(handle, ended), daemon=True).start()
    atexit.register(_release, handle, ended, os.getpid())


def _lock(handle: int) -> bool | None:
    """Whether this process has the lock; None if the file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _age_seconds(file: Path) -> float:
    """The seconds since the file's last renewal, by the clock of its file system."""
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=".claim-") as now:
        return os.fstat(now.fileno()).st_mtime - file.stat().st_mtime


def _renew(handle: int, ended: threading.Event) -> None:
    while not ended.wait(RENEWAL_SECONDS):
        with suppress(OSError):
            os.utime(handle)


def _release(handle: int, ended: threading.Event, process: int) -> None:
    # A child process inherits the handlers of exit, but not the claim.
    if os.getpid() == process:
        ended.set()
        with suppress(OSError):
            os.truncate(handle, 0)
