"""One launch at a time on a host, and one temporary folder for each.

The supervisor sees to both where it runs. On the other hosts of a launch, its ranks do. All names have the host's in
them: temporary folders may lie on a file system that hosts share.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

POLL_SECONDS = 0.1

VARIABLE = "CROSSOVER_FOLDER"
"""The environment variable that names the supervisor's private folder to the ranks."""


@contextmanager
def alone(say: Callable[[str], None], check: Callable[[], None]) -> Iterator[None]:
    """Hold this user's measuring lock on this host: two launches side by side would measure each other.

    While another holds it, `check` is called again and again and may raise to give up.
    """
    with (Path(tempfile.gettempdir()) / f"{_ours()}.measuring").open("a+") as lock:
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
    """A temporary folder that goes with the launch; those that dead processes left behind on this host go too."""
    for left in Path(tempfile.gettempdir()).glob(f"{_ours()}-*"):
        if (pid := _maker(left)) and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{_ours()}-{os.getpid()}-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def as_a_guest() -> Iterator[bool]:
    """Whether this rank is on another host than its supervisor; there it gets a private folder of its own.

    It is told by the name of the supervisor's, which the environment says.
    """
    supervisors = Path(os.environ.get(VARIABLE, ""))
    guest = not _maker(supervisors)
    with private_folder() if guest else nullcontext(supervisors) as folder:
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
        yield guest


def _ours() -> str:
    """How the names of this user's things on this host begin."""
    return f"crossover-{os.getuid()}-{socket.gethostname()}"


def _maker(folder: Path) -> str:
    """The process of this user and host that made a private folder, by its name; empty for any other folder."""
    found = re.fullmatch(rf"{re.escape(_ours())}-(\d+)-[^-]+", folder.name)
    return found[1] if found else ""
