"""One launch at a time on a host, and one temporary folder for each."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

POLL_SECONDS = 0.1


@contextmanager
def alone(say: Callable[[str], None], check: Callable[[], None]) -> Iterator[None]:
    """Hold this user's measuring lock on this host: two launches side by side would measure each other.

    While another holds it, `check` is called again and again and may raise to give up.
    """
    with (Path(tempfile.gettempdir()) / f"crossover-{os.getuid()}.measuring").open("a+") as lock:
        told = False
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    say("another launch is being measured on this host; waiting for it to end")
                    told = True
                check()
                time.sleep(POLL_SECONDS)
        yield


@contextmanager
def private_folder() -> Iterator[Path]:
    """A temporary folder that goes with the launch; those that dead supervisors left behind go too."""
    base = Path(tempfile.gettempdir())
    for left in base.glob(f"crossover-{os.getuid()}-*"):
        pid = left.name.split("-")[2]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"crossover-{os.getuid()}-{os.getpid()}-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
