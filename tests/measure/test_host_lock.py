"""Does each rank have a private temporary folder on its own host, and is nothing left of it?"""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from crossover.errors import CrossoverError
from crossover.measure.launch import host_lock
from crossover.paths import WORKFLOW
from crossover.records import atomic
from crossover.records import temporary as folders


@pytest.fixture
def temporary(monkeypatch, tmp_path):
    """A host's folder for temporary files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv(host_lock.LOCK, str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    (tmp_path / "shm").mkdir()
    monkeypatch.setattr(host_lock.ending, "SHARED_MEMORY", tmp_path / "shm")
    return tmp_path


def names(folder):
    return [path.name for path in folder.iterdir()]


def test_a_rank_beside_its_supervisor_uses_the_supervisors_folder(temporary, monkeypatch):
    with host_lock.private_folder() as private:
        monkeypatch.setenv(host_lock.VARIABLE, str(private))
        with host_lock.as_a_guest() as guest:
            assert not guest
            assert os.environ["TMPDIR"] == tempfile.gettempdir() == str(private)
            assert sorted(names(temporary)) == [private.name, "shm"]


@pytest.mark.parametrize("there", [True, False])
def test_a_rank_on_another_host_makes_its_own_folder_and_deletes_it(temporary, monkeypatch, there):
    supervisors = temporary / "crossover-01234567-77-abcdefgh"
    if there:
        supervisors.mkdir()
    monkeypatch.setenv(host_lock.VARIABLE, str(supervisors))
    before = names(temporary)
    with host_lock.as_a_guest() as guest:
        assert guest
        own = Path(tempfile.gettempdir())
        assert own.parent == temporary and own.is_dir() and own != supervisors
        assert os.environ["TMPDIR"] == str(own)
    assert names(temporary) == before


def test_only_folders_and_shared_memory_of_dead_processes_of_this_host_are_deleted(temporary):
    memory = temporary / "shm"
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    ours = folders.prefix().removesuffix(f"{atomic.process()}-")
    dead = f"{ours}{ended.pid}-abcdefgh"
    others = [
        f"crossover-01234567-{ended.pid}-abcdefgh",
        f"{ours}{ended.pid}n1-abcdefgh",
        f"{ours}{os.getpid()}-abcdefgh",
        f"crossover-{os.getuid()}-{socket.gethostname()}.lock",
    ]
    for made in (dead, *others):
        (temporary / made).mkdir()
    kept = [f"sem.{ours}{os.getpid()}-abcdefgh.-x", "sem.mp-x"]
    for made in (f"sem.{dead}.-x", f"{dead}.x", *kept):
        (memory / made).touch()
    with host_lock.private_folder() as folder:
        assert sorted(names(temporary)) == sorted([*others, folder.name, "shm"])
        assert sorted(names(memory)) == sorted(kept)
        for own in (f"sem.{folder.name}.-x", f"{folder.name}.x"):
            (memory / own).touch()
    assert sorted(names(memory)) == sorted(kept)


@pytest.mark.skipif(os.getuid() != 0, reason="only root makes namespaces")
@pytest.mark.parametrize("inside", ["owner", "sweeper"])
def test_a_folder_of_another_pid_namespace_stays(temporary, inside):
    if subprocess.run([*UNSHARED, "true"], capture_output=True).returncode:
        pytest.skip("namespaces are not allowed here")
    memory = temporary / "shm"
    owner, sweeper = (UNSHARED if inside == name else [] for name in ("owner", "sweeper"))
    command = [*owner, sys.executable, "-c", HOLDING.format(memory=str(memory))]
    environment = os.environ | {"PYTHONPATH": str(WORKFLOW)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as holder:
        folder = Path(holder.stdout.readline().strip())
        kept = memory / f"{folder.name}.x"
        kept.touch()
        subprocess.run([*sweeper, *command[len(owner) :]], env=environment, input="", check=True, capture_output=True)
        assert folder.is_dir() and kept.exists()
        holder.stdin.close()
        assert holder.wait() == 0
    assert not folder.exists() and not kept.exists()


UNSHARED = ["unshare", "--pid", "--fork", "--mount-proc"]
HOLDING = """
import sys
from pathlib import Path
from crossover.measure.launch import host_lock

host_lock.ending.SHARED_MEMORY = Path({memory!r})
with host_lock.private_folder() as folder:
    print(folder, flush=True)
    sys.stdin.read()
"""


def locked():
    with host_lock.alone(print, lambda: None):
        return True


def test_runs_of_one_user_with_different_temporary_folders_share_a_lock_that_nobody_else_can_hold(
    tmp_path, monkeypatch
):
    monkeypatch.delenv(host_lock.LOCK, raising=False)
    monkeypatch.setattr(host_lock, "PLACES", (str(tmp_path / "nowhere"), str(tmp_path)))
    found = set()
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv("TMPDIR", str(tmp_path / name))
        monkeypatch.setattr(tempfile, "tempdir", None)
        assert locked()
        found.add(host_lock._folder_of_the_lock())
    (folder,) = found
    assert folder.parent == tmp_path and folder.stat().st_mode & 0o777 == 0o700 and names(folder) == ["measuring"]


def others_folder(place):
    place.mkdir()
    os.chown(place, 65534, 65534)


@pytest.mark.parametrize(
    "put",
    [
        pytest.param(others_folder, marks=pytest.mark.skipif(os.getuid() != 0, reason="only root can give it away")),
        lambda place: place.symlink_to(place.parent),
        lambda place: place.write_text(""),
        os.mkfifo,
        lambda place: place.mkdir(mode=0o755),
    ],
    ids=["folder of another user", "link", "file", "FIFO", "folder for all"],
)
def test_a_lock_that_others_can_hold_is_refused(temporary, put):
    place = temporary / f"crossover-{os.getuid()}-{socket.gethostname()}.lock"
    put(place)
    with pytest.raises(CrossoverError, match=r"must be a folder of yours .* set CROSSOVER_LOCK"):
        locked()
