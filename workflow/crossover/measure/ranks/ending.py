"""The end of processes: with their parent, and without MPICH's files, which ranks leave if they are killed.

As a command, `python -m crossover.measure.ranks.ending COMMAND` runs COMMAND. When COMMAND or the parent process ends,
all processes that COMMAND has started end too.
"""

import ctypes
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
GRACE_SECONDS = 3
NESTED = 4
"""A guard of supervisors, which end their own descendants, waits so many times longer."""
_libc = ctypes.CDLL(None, use_errno=True)
SHARED_MEMORY = Path("/dev/shm")


def die_with_parent(signal_number: int = signal.SIGKILL) -> None:
    """Make the kernel end this process when its parent ends; usable as a `preexec_fn`."""
    parent = os.getppid()
    _libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
    if parent == 1 or os.getppid() != parent:
        os._exit(1)


def die_soon_after(pid: int) -> None:
    """End this process GRACE_SECONDS after the process `pid` of this host, unless it ends by itself.

    MPI launchers should do this, but MPICH's sometimes misses the end of a rank. Waiting uses no processor time.
    """

    def end_after(other: int) -> None:
        select.select([other], [], [])
        time.sleep(GRACE_SECONDS)
        os._exit(1)

    with suppress(ProcessLookupError):
        threading.Thread(target=end_after, args=(os.pidfd_open(pid),), daemon=True).start()


def adopt_orphans() -> None:
    """Become the parent of all orphaned descendants, so that they can be found and ended."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_descendants(grace_seconds: float = GRACE_SECONDS) -> None:
    """End every descendant of this process: first with SIGTERM, after `grace_seconds` with SIGKILL.

    Adopted orphans are included. Also removes MPI's shared memory, which ranks leave behind if they end before they
    have met.
    """
    for stop in (psutil.Process.terminate, psutil.Process.kill):
        below = psutil.Process().children(recursive=True)
        memory = {segment for process in below for segment in mpich_memory(process.pid)}
        for process in below:
            with suppress(psutil.NoSuchProcess):
                stop(process)
        left = psutil.wait_procs(below, timeout=grace_seconds)[1] or psutil.Process().children()
        unlink(memory)
        if not left:
            return


def guard(command: list[str]) -> int:
    """Run `command` and return its exit code; if the parent ends, return 1. At the end, all descendants end.

    The kernel can end a child with its parent, but not the grandchildren.
    """
    # Waits for signals instead of handling them: the kernel signals the parent's death once for each of its threads,
    # and a handler would be interrupted by itself again and again, and never finish.
    signals = {signal.SIGTERM, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    adopt_orphans()
    die_with_parent(signal.SIGTERM)
    try:
        child = subprocess.Popen(command, preexec_fn=partial(signal.pthread_sigmask, signal.SIG_UNBLOCK, signals))
        while child.poll() is None:
            if signal.sigwait(signals) == signal.SIGTERM:
                return 1
        return child.returncode
    finally:
        end_descendants(NESTED * GRACE_SECONDS)


def mpich_memory(pid: int) -> set[Path]:
    """The files of shared memory that a process uses; empty if it has ended or belongs to another user."""
    with suppress(OSError):
        mapped = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace")
        return {Path(name) for name in re.findall(r"/dev/shm/mpich_\S+", mapped)}
    return set()


def unlink(files: Iterable[Path]) -> None:
    """Unlink these files; processes that have them open can still use them."""
    for file in files:
        if os.access(file, os.W_OK):
            file.unlink(missing_ok=True)


def forget_topology() -> None:
    """Unlink the launcher's file about the host's topology. All ranks, including this one, must have read it."""
    launcher = psutil.Process().parent()
    if launcher is None or not launcher.name().startswith("hydra"):
        return
    for file in Path("/tmp").glob("hydra_hwloc_xmlfile_*"):
        with suppress(OSError):
            facts = file.stat()
            # The name is random, so the time identifies the file. A second allows for the difference between clocks.
            if facts.st_uid == os.getuid() and facts.st_mtime > launcher.create_time() - 1:
                file.unlink()


if __name__ == "__main__":
    sys.exit(guard(sys.argv[1:]))
