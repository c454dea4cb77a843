"""Nothing that was started outlives what it was started for.

As a command, `python -m crossover.measure.processes.ending <command>` runs another one that starts processes of its
own: when it ends, or when whoever started it is killed, all of them end.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial

import psutil

from crossover.measure.processes import mpich_files

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
GRACE_SECONDS = 3
_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent(signal_number: int = signal.SIGKILL) -> None:
    """Ask the kernel to end this process when its parent ends; usable as a `preexec_fn`."""
    parent = os.getppid()
    _libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
    if parent == 1 or os.getppid() != parent:
        os._exit(1)


def die_soon_after(pid: int) -> None:
    """End this process a little after the process `pid` of this host, if it has not ended by itself until then.

    MPI launchers mean to do this, but MPICH's misses the end of a rank now and then. Costs nothing while waiting.
    """
    with suppress(ProcessLookupError):
        other = os.pidfd_open(pid)
        threading.Thread(target=_end_after, args=(other,), daemon=True).start()


def _end_after(other: int) -> None:
    select.select([other], [], [])
    time.sleep(GRACE_SECONDS)
    os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends, so that all of them can be found and ended."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_descendants() -> None:
    """End every process below this one: politely, then not. Orphans among them were adopted, so all are found.

    Ranks that have not met yet would leave MPI's shared memory behind; it goes with them.
    """
    for stop in (psutil.Process.terminate, psutil.Process.kill):
        below = psutil.Process().children(recursive=True)
        memory = {segment for process in below for segment in mpich_files.segments(process.pid)}
        for process in below:
            try:
                stop(process)
            except psutil.NoSuchProcess:
                continue
        left = psutil.wait_procs(below, timeout=GRACE_SECONDS)[1] or psutil.Process().children()
        mpich_files.forget(memory)
        if not left:
            return


def guard(command: list[str]) -> int:
    """Run `command` and return its exit code. Ends with the parent, taking every descendant along.

    A kernel that ends a child with its parent does not end the grandchildren, so something must stay to do it.
    """
    # Waited for, not handled: the kernel tells of a parent's death once for each of its threads, and a handler that is
    # called within itself, again and again, comes to no end.
    told = {signal.SIGTERM, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, told)
    adopt_orphans()
    die_with_parent(signal.SIGTERM)
    try:
        child = subprocess.Popen(command, preexec_fn=partial(signal.pthread_sigmask, signal.SIG_UNBLOCK, told))
        while child.poll() is None:
            if signal.sigwait(told) == signal.SIGTERM:
                return 1
        return child.returncode
    finally:
        end_descendants()


if __name__ == "__main__":
    sys.exit(guard(sys.argv[1:]))
