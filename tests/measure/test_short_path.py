"""Do farms with sockets in their folder run where TMPDIR is long?"""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from launching import COMMON

from crossover.config import schema
from crossover.farms import declared
from crossover.measure.farms import server

MOST_BYTES = 107
"""Of a socket's path."""
SHIPPED = schema.complete({}).farms


@pytest.fixture
def folder(tmp_path):
    """A folder in which no socket's path fits."""
    made = tmp_path / ("long" * 20)
    made.mkdir()
    assert len(os.fsencode(made)) > MOST_BYTES - len("/socket")
    return made


def test_another_process_reaches_a_socket_by_the_short_path(folder, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    path = Path(server.short_temporary_folder.__wrapped__()) / "socket"
    assert len(os.fsencode(path)) < 40
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        connect = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
        assert subprocess.run([sys.executable, "-c", connect, path]).returncode == 0
    assert (folder / "socket").is_socket()


@pytest.mark.parametrize("farm", ["ray", "parsl"])
def test_an_extra_runs_where_the_temporary_folder_is_long(farm, launch):
    pytest.importorskip(declared()[farm].packages[0], reason=f"make env EXTRA={farm}")
    arms = ["bare zmq", farm]
    settings = {"arms": arms, "ceilings": [], "reference": arms[0], "engines": 1, "sizes_bytes": [100], "tasks": 4}
    entrants = {name: SHIPPED[name] for name in arms}
    one = launch("task_throughput", COMMON | settings | {"entrants": entrants}, "long" * 10)
    assert one.run() == 0
    assert one.facts["outcome"] == "measured", one.facts["reason"]
    one.leaves_nothing_but_its_file()
