"""Temporary folders that no end of their process leaves behind: an exception, SIGTERM and SIGHUP remove them at once.

After SIGKILL, the next command does. Only this user can enter them, because they hold tables before redaction.
"""

import os
import re
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from zlib import crc32

from crossover.records import atomic

SIGNALS = (signal.SIGTERM, signal.SIGHUP)


def _ours() -> str:
    """The prefix of this user's folders on this host, which may share its temporary folder with others; of any length
    of a host's name."""
    return f"crossover-{crc32(f'{os.getuid()} {atomic.HOST}'.encode()):08x}"


def prefix() -> str:
    """The prefix of this process's folders."""
    return f"{_ours()}-{atomic.process()}-"


def maker(path: Path) -> str:
    """The name of the process of this user and host that made a folder, or the folder to which a name in shared memory
    belongs; empty for any other."""
    found = re.fullmatch(rf"(?:sem\.)?{_ours()}-(\d+(?:n\d+)?)-[^-.]+(?:\..+)?", path.name)
    return found[1] if found else ""


def sweep(places: Iterable[Path] = ()) -> None:
    """Remove what dead processes have left in the temporary folder, and in these `places`."""
    for place in (Path(tempfile.gettempdir()), *places):
        for stale in place.glob(f"*{_ours()}-*"):
            if atomic.is_dead(maker(stale)):
                remove(stale)


def remove(path: Path) -> None:
    """Remove a file or a folder as far as possible."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


@contextmanager
def folder() -> Iterator[Path]:
    """A new folder, which is removed at the end, also if one of SIGNALS would end this process."""
    sweep()
    with _unwound(), tempfile.TemporaryDirectory(prefix=prefix(), ignore_cleanup_errors=True) as made:
        yield Path(made)


def shortened(path: str | Path) -> Path:
    """Another path of a folder, for this process and for those that it starts, as long as it runs.

    Paths of sockets have at most 107 bytes, and TMPDIR can be long.
    """
    return Path(f"/proc/{os.getpid()}/fd/{os.open(path, os.O_PATH | os.O_DIRECTORY)}")


@contextmanager
def _unwound() -> Iterator[None]:
    """Let SIGNALS end this process by an exception, unless something else handles them."""
    is_main = threading.current_thread() is threading.main_thread()
    own = [number for number in SIGNALS if is_main and signal.getsignal(number) is signal.SIG_DFL]
    for number in own:
        signal.signal(number, _leave)
    try:
        yield
    finally:
        for number in own:
            signal.signal(number, signal.SIG_DFL)


def _leave(number: int, _: object) -> None:
    # A second signal must not interrupt the clean-up.
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)
