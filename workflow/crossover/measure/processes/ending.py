"""Child processes never outlive their parent.

As a command, `python -m crossover.measure.processes.ending <command>` runs another command that may start processes. If
that command ends, or if the process that started it is killed, all of these processes end.
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
    """Make the kernel end this process when its parent ends; usable as a `preexec_fn`."""
    parent = os.getppid()
    _libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
    if parent == 1 or os.getppid() != parent:
        os._exit(1)


def die_soon_after(pid: int) -> None:
    """End this process shortly after the process `pid` of this host, unless it ends by itself.

    MPI launchers should do this, but MPICH's sometimes misses the end of a rank. Waiting uses no processor time.
    """
    with suppress(ProcessLookupError):
        other = os.pidfd_open(pid)
        threading.Thread(target=_end_after, args=(other,), daemon=True).start()


def _end_after(other: int) -> None:
    select.select([other], [], [])
    time.sleep(GRACE_SECONDS)
    os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of all orphaned descendants, so that they can be found and ended."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_descendants() -> None:
    """End every descendant of this process: first with SIGTERM, then with SIGKILL. Adopted orphans are included.

    Also removes MPI's shared memory, which ranks leave behind if they have not met yet.
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
    """Run `command` and return its exit code. If the parent ends, ends every descendant and itself.

    The kernel ends a child with its parent, but not the grandchildren; this process does that.
    """
    # Waits for signals instead of handling them: the kernel signals a parent's death once for each of its threads, and
    # a handler that is interrupted by itself again and again would never finish.
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
