"""Does each rank have a private temporary folder on its own host, and is nothing left of it?"""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from crossover.measure.launch import host_lock


@pytest.fixture
def temporary(monkeypatch, tmp_path):
    """A host's folder for temporary files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def names(folder):
    return [path.name for path in folder.iterdir()]


def test_a_rank_beside_its_supervisor_uses_the_supervisors_folder(temporary, monkeypatch):
    with host_lock.private_folder() as private:
        monkeypatch.setenv(host_lock.VARIABLE, str(private))
        with host_lock.as_a_guest() as guest:
            assert not guest
            assert os.environ["TMPDIR"] == tempfile.gettempdir() == str(private)
            assert names(temporary) == [private.name]


@pytest.mark.parametrize("there", [True, False])
def test_a_rank_on_another_host_makes_its_own_folder_and_deletes_it(temporary, monkeypatch, there):
    supervisors = temporary / f"crossover-{os.getuid()}-elsewhere-77-abcdefgh"
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


def test_only_folders_of_dead_processes_of_this_host_are_deleted(temporary):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    uid, name = os.getuid(), socket.gethostname()
    dead = f"crossover-{uid}-{name}-{ended.pid}-abcdefgh"
    others = [
        f"crossover-{uid}-{name}-2-{ended.pid}-abcdefgh",
        f"crossover-{uid}-elsewhere-{ended.pid}-abcdefgh",
        f"crossover-{uid}-{name}-{os.getpid()}-abcdefgh",
        f"crossover-{uid}-{name}.measuring",
    ]
    for made in (dead, *others):
        (temporary / made).mkdir()
    with host_lock.private_folder() as folder:
        assert sorted(names(temporary)) == sorted([*others, folder.name])
