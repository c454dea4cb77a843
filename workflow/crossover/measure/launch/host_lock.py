"""Locks a host, so that it runs one launch at a time, and gives each launch its own temporary folder.

The supervisor does both on its host, and ranks on the other hosts of a launch. All names tell the host, because hosts
may share their temporary folders.
"""

import fcntl
import os
import socket
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import count
from pathlib import Path

from crossover.errors import CrossoverError
from crossover.measure.ranks import ending
from crossover.records import temporary

POLL_SECONDS = 0.1

VARIABLE = "CROSSOVER_FOLDER"
"""The environment variable that names the supervisor's private folder to the ranks."""

LOCK = "CROSSOVER_LOCK"
"""The environment variable with another place for the lock's folder. Launches with different ones do not wait for each
other."""

PLACES = ("/tmp", "/var/tmp", "/dev/shm")
"""Folders of a host for everybody's files. TMPDIR is none: runs of one user can have different ones."""


@contextmanager
def alone(say: Callable[[str], None], check: Callable[[], None]) -> Iterator[None]:
    """Hold this user's measuring lock on this host, because two launches at the same time would disturb each other.

    While another launch holds the lock, `check` is called repeatedly; it may raise to give up. Raises CrossoverError if
    somebody else made the lock's folder.
    """
    with (_folder_of_the_lock() / "measuring").open("a+", encoding="utf-8") as lock:
        for attempt in count():
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not attempt:
                    say("another launch runs on this host; waiting until it ends")
                check()
                time.sleep(POLL_SECONDS)
        yield


@contextmanager
def private_folder() -> Iterator[Path]:
    """A temporary folder, removed at the end with the shared memory whose names begin with its own (children.py).

    Also removes the folders and the shared memory of dead processes.
    """
    memory = ending.SHARED_MEMORY
    temporary.sweep([memory])
    with tempfile.TemporaryDirectory(prefix=temporary.prefix(), ignore_cleanup_errors=True) as folder:
        try:
            yield Path(folder)
        finally:
            for file in memory.glob(f"*{Path(folder).name}.*"):
                temporary.remove(file)


@contextmanager
def as_a_guest() -> Iterator[bool]:
    """Whether this rank is on another host than its supervisor; if so, it gets a private folder of its own.

    The environment names the supervisor's folder, whose name tells the supervisor's host.
    """
    supervisors = Path(os.environ.get(VARIABLE, ""))
    guest = not temporary.maker(supervisors)
    with private_folder() if guest else nullcontext(supervisors) as folder:
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
        yield guest


def _folder_of_the_lock() -> Path:
    """A folder that only this user can enter, so that nobody else can hold the lock or put a link in its place."""
    writable = (place for place in PLACES if os.access(place, os.W_OK | os.X_OK))
    place = Path(os.environ.get(LOCK) or next(writable, tempfile.gettempdir()))
    folder = place / f"crossover-{os.getuid()}-{socket.gethostname()}.lock"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise CrossoverError(
            f"{folder} must be a folder of yours that nobody else can enter; remove it, or set {LOCK} to a folder of "
            "your own on this host"
        )
    return folder
