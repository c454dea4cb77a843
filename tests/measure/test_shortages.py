"""Is a launch without space or open files a hole that says so, and that the next run measures again?"""

import os
import subprocess

import pytest

from crossover.records.holes import HoleKind

FEW_FILES = ("sh", "-c", 'ulimit -n 200; exec "$@"', "sh")
"""Runs a command whose processes may open 200 files."""


def little_memory(kilobytes):
    """Runs a command with a /dev/shm of this size of its own."""
    return little_space("/dev/shm", f"size={kilobytes}k")


def little_space(folder, limit):
    """Runs a command with a small file system over a folder. Skips where mounting is not allowed."""
    wrapper = ("unshare", "--mount", "sh", "-c", f'mount -t tmpfs -o {limit} tmpfs {folder}; exec "$@"', "sh")
    allowed = os.getuid() == 0 and subprocess.run([*wrapper, "true"], capture_output=True).returncode == 0
    if not allowed:
        pytest.skip("mounting is not allowed here")
    return wrapper


@pytest.fixture
def shortage(toy):
    """The reason of the hole that a toy leaves, whose next run measures again."""

    def ended(does, *wrapper):
        one = toy(does)
        one.start(*wrapper)
        return one.hole(HoleKind.DISTURBED)

    return ended


def test_ranks_that_find_shared_memory_full_are_ended_by_a_bus_error(shortage):
    reason = shortage("work", *little_memory(1024))
    assert reason.startswith("/dev/shm was probably full; remove files from it") and "(Bus error)" in reason


def test_unusable_shared_memory_is_named_as_the_cause(toy):
    one = toy()
    one.start(*little_space("/dev/shm", "ro"))
    reason = one.hole(HoleKind.WRONG_SETUP)
    assert reason.startswith("/dev/shm on ") and "cannot be written to, and MPI" in reason


def test_a_rank_that_fills_a_file_system_names_it(shortage):
    reason = shortage("other rank: fill shared memory", *little_memory(32768))
    assert reason.startswith("a file system is full (df shows which); remove files from it, ")


def test_a_full_temporary_folder_is_a_hole_before_ranks_start(shortage, tmp_path):
    # The root, a test file of Python's, the private folder and that of the lock; not the lock itself.
    reason = shortage("work", *little_space(tmp_path / "tmp", "nr_inodes=3"))
    assert f"No space left on device: {tmp_path}/tmp)" in reason


def test_a_rank_without_open_files_names_the_limit(shortage):
    reason = shortage("open files", *FEW_FILES)
    assert reason.startswith("a process has too many open files; raise the limit with ulimit -n (")
