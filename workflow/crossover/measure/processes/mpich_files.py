"""Removes MPICH's files from shared folders. Ranks remove them when MPI finalizes; killed ranks do not."""

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import psutil


def shared_memory(pid: int) -> set[Path]:
    """The files of shared memory that a process uses; empty if it has ended or belongs to another user."""
    with suppress(OSError):
        mapped = Path(f"/proc/{pid}/maps").read_text(errors="replace")
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
