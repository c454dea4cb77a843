"""Files that MPICH keeps in folders that all share until its ranks take leave of each other; killed ones do not."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import psutil


def segments(pid: int) -> set[Path]:
    """The named shared memory that a process has in use; empty where it has ended or is somebody else's."""
    with suppress(OSError):
        mapped = Path(f"/proc/{pid}/maps").read_text(errors="replace")
        return {Path(name) for name in re.findall(r"/dev/shm/mpich_\S+", mapped)}
    return set()


def forget(files: Iterable[Path]) -> None:
    """Take their names away; whoever uses them goes on using them."""
    for file in files:
        if os.access(file, os.W_OK):
            file.unlink(missing_ok=True)


def forget_topology() -> None:
    """Unlink the file in which the launcher told its ranks, of which this is one, what the host looks like.

    They must have read it.
    """
    launcher = psutil.Process().parent()
    if launcher is None or not launcher.name().startswith("hydra"):
        return
    for file in Path("/tmp").glob("hydra_hwloc_xmlfile_*"):
        with suppress(OSError):
            facts = file.stat()
            # The name is random. A second is for the clocks of processes and files, which differ a little.
            if facts.st_uid == os.getuid() and facts.st_mtime > launcher.create_time() - 1:
                file.unlink()
