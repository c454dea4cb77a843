"""Removes MPICH's files from shared folders. Ranks remove them when MPI finalizes; killed ranks do not."""

import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil

SHARED_MEMORY = Path("/dev/shm")
SETTLED_SECONDS = 60
"""From this age on, a file without a process is left over; a younger one may just have been created."""
_FIRST_PID_NAMESPACE = "pid:[4026531836]"
"""The namespace from which all processes of a host are visible; the number is a constant of Linux."""
_MAPPING = re.compile(r"^\S+ \S+ \S+ ([0-9a-f]+):([0-9a-f]+) (\d+)", re.MULTILINE)
"""A line of a process's mappings: the device's two numbers, and the inode."""


def shared_memory(pid: int) -> set[Path]:
    """The files of shared memory that a process uses; empty if it has ended or belongs to another user."""
    with suppress(OSError):
        mapped = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace")
        return {Path(name) for name in re.findall(r"/dev/shm/mpich_\S+", mapped)}
    return set()


def sweep() -> None:
    """Unlink this user's shared memory that killed ranks have left on this host.

    A file is left if it is older than SETTLED_SECONDS and no process has it open or mapped. Within a container, which
    may share the folder with processes that are not visible, nothing is unlinked.
    """
    settled = {file: _identity(facts) for file, facts in _own_files() if facts.st_mtime < time.time() - SETTLED_SECONDS}
    # The common case; a look at every process takes a moment.
    if not settled or not _sees_all_processes():
        return
    used = {identity for process in psutil.pids() for identity in _used(process)}
    left = {file for file, identity in settled.items() if identity not in used}
    # Asked again: since the first look, another launch may have removed the file and made one of the same name.
    unlink(file for file, facts in _own_files() if file in left and _identity(facts) == settled[file])


def _own_files() -> Iterator[tuple[Path, os.stat_result]]:
    for file in SHARED_MEMORY.glob("mpich_*"):
        with suppress(OSError):
            facts = file.lstat()
            if facts.st_uid == os.getuid():
                yield file, facts


def _sees_all_processes() -> bool:
    with suppress(OSError):
        return str(Path("/proc/self/ns/pid").readlink()) == _FIRST_PID_NAMESPACE
    return False


def _used(pid: int) -> Iterator[tuple[int, int]]:
    """The identities of the files that a process has mapped or open; none if it has ended or is another user's."""
    process = Path(f"/proc/{pid}")
    with suppress(OSError):
        for major, minor, inode in _MAPPING.findall((process / "maps").read_text(errors="replace", encoding="utf-8")):
            yield os.makedev(int(major, 16), int(minor, 16)), int(inode)
    with suppress(OSError):
        for handle in (process / "fd").iterdir():
            with suppress(OSError):
                yield _identity(handle.stat())


def _identity(facts: os.stat_result) -> tuple[int, int]:
    """A file's device and inode, because a process in another mount namespace shows another path."""
    return facts.st_dev, facts.st_ino


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
