"""Is a launch without space or open files a hole that says so, and that the next run measures again?"""

import os
import subprocess

import pytest
from launching import TOY, Launch, toy_project

from crossover.records import record
from crossover.records.holes import PASSING

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


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    return toy_project(tmp_path_factory.mktemp("toys"))


@pytest.fixture
def hole(tmp_path, toys):
    """The kind and the reason of the hole that a toy leaves."""
    prepared = []

    def ended(does, *wrapper):
        toy = Launch(tmp_path, "toy", TOY | {"does": does}, root=toys)
        prepared.append(toy)
        assert toy.start(*wrapper).wait(120) == 0, toy.log.read_text()
        facts = record.metadata(record.read(toy.output, record.MEASUREMENTS))["launch"]
        assert "the next run retries it" in toy.log.read_text()
        return facts["hole"], facts["reason"]

    yield ended
    for one in prepared:
        one.end()


def test_ranks_that_find_shared_memory_full_are_ended_by_a_bus_error(hole):
    kind, reason = hole("work", *little_memory(1024))
    assert kind == "no space" and kind in PASSING
    assert "ended by signal 7 (Bus error): /dev/shm on" in reason
    assert "2 ranks need up to 8 MiB; remove files from /dev/shm" in reason


def test_unusable_shared_memory_is_named_as_the_cause(tmp_path, toys):
    toy = Launch(tmp_path, "toy", TOY | {"does": "work"}, root=toys)
    try:
        assert toy.start(*little_space("/dev/shm", "ro")).wait(120) == 0
        facts = record.metadata(record.read(toy.output, record.MEASUREMENTS))["launch"]
    finally:
        toy.end()
    assert facts["hole"] == "crashed"
    assert facts["reason"].startswith("/dev/shm on ") and "cannot be written to, and MPI" in facts["reason"]


@pytest.mark.parametrize("does", ["fill shared memory", "other rank: fill shared memory"])
def test_a_rank_that_fills_a_file_system_names_it(hole, does):
    kind, reason = hole(does, *little_memory(32768))
    assert kind == "no space"
    assert reason.startswith("No space left on device: /dev/shm on ")


def test_a_full_temporary_folder_is_a_hole_before_ranks_start(hole, tmp_path):
    # The root, a test file of Python's, the private folder and that of the lock; not the lock itself.
    kind, reason = hole("work", *little_space(tmp_path / "tmp", "nr_inodes=3"))
    assert (kind, reason.startswith(f"No space left on device: {tmp_path}/tmp on ")) == ("no space", True)


def test_a_rank_without_open_files_names_the_limit(hole):
    assert hole("open files", *FEW_FILES) == (
        "no space",
        "Too many open files: a process may have 200 here; raise the limit with ulimit -n",
    )


def test_a_shortage_that_only_the_log_reports_is_found(hole):
    kind, reason = hole("report a full disk")
    assert kind == "no space"
    assert "worker 1: cannot write: No space left on device" in reason
