"""Does the next launch delete the shared memory that killed ranks have left, and never that of living processes?"""

import mmap
import os
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from launching import TOY, eventually

from crossover.measure.ranks import ending

pytestmark = pytest.mark.skipif(
    os.fspath(Path("/proc/self/ns/pid").readlink()) != "pid:[4026531836]",
    reason="nothing is swept in a container, which does not see all processes",
)


def meeting(launch):
    """The shared memory of a launch's ranks, which have started but not met."""
    launch.start()
    assert eventually(lambda: sum(bool(ending.mpich_memory(rank.pid)) for rank in launch.ranks()) == 2)
    (file,) = {file for rank in launch.ranks() for file in ending.mpich_memory(rank.pid)}
    return file


def kill(launch):
    """Kill the supervisor and everything below it at once, so that nobody can clean up."""
    every = launch.processes()
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for process in every:
            with suppress(psutil.Error):
                process.send_signal(number)
    launch.process.wait()
    assert eventually(lambda: not launch.processes())


def age(file, seconds=120):
    os.utime(file, (time.time() - seconds,) * 2)


def test_only_the_shared_memory_of_dead_ranks_is_deleted_by_the_next_launch(launch, toys, late):
    dead, living = (launch("toy", TOY, name, root=late) for name in ("dead", "living"))
    left = meeting(dead)
    kill(dead)
    used = meeting(living)
    assert left.exists() and used.exists()
    age(left)
    age(used)
    assert launch("toy", TOY, "next", root=toys).run() == 0
    assert not left.exists()
    assert used.exists() and len(living.ranks()) == 2


@pytest.fixture(params=["mpich_test_", "sem.loky-1-"])
def segment(request):
    """A new file like those of MPI and joblib. Launches of other tests sweep too, so it ages only once it is used."""
    handle, name = tempfile.mkstemp(prefix=request.param, dir=ending.SHARED_MEMORY)
    os.write(handle, bytes(mmap.PAGESIZE))
    os.close(handle)
    file = Path(name)
    yield file
    file.unlink(missing_ok=True)


def test_a_file_that_nobody_uses_is_deleted(segment):
    age(segment)
    ending.sweep_memory()
    assert not segment.exists()


def test_a_young_file_stays(segment):
    age(segment, 30)
    ending.sweep_memory()
    assert segment.exists()


def test_a_file_that_was_replaced_since_it_was_found_stays(segment, monkeypatch):
    age(segment)
    pids = psutil.pids()

    def replaced():
        segment.unlink()
        segment.write_bytes(b"new")
        return pids

    monkeypatch.setattr(psutil, "pids", replaced)
    ending.sweep_memory()
    assert segment.read_bytes() == b"new"


@contextmanager
def mapped(segment):
    with segment.open("r+b") as opened:
        memory = mmap.mmap(opened.fileno(), 0)
    yield
    memory.close()


@contextmanager
def of_another_user(segment):
    if os.getuid():
        pytest.skip("only root can give a file away")
    os.chown(segment, 65534, 65534)
    yield


@contextmanager
def where_processes_are_hidden(segment):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ending.atomic, "FIRST_NAMESPACE", "4026532000")
        yield


@pytest.mark.parametrize("used", [Path.open, mapped, of_another_user, where_processes_are_hidden])
def test_an_old_file_that_may_be_in_use_stays(segment, used):
    with used(segment):
        age(segment)
        ending.sweep_memory()
        assert segment.exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root makes namespaces")
def test_a_file_mapped_elsewhere_by_another_path_stays(segment):
    read = (
        f"exec 3<{segment}; mount --move /dev/shm /mnt 2>/dev/null || mount --bind /tmp /dev/shm; echo ready; read end"
    )
    holder = subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", read], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        if holder.stdout.readline() != "ready\n":
            pytest.skip("mounting is not allowed here")
        age(segment)
        ending.sweep_memory()
        assert segment.exists()
    finally:
        holder.communicate("end\n")
