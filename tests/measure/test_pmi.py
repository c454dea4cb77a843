"""Does MPI keep its values short enough for Slurm's process manager?"""

import os
import socket
import subprocess
import sys

import psutil
import pytest

RANK = """
import os, sys
from crossover.measure.launch.pmi import shorten_values
shorten_values()
server = int(os.environ["PMI_FD"])
os.write(server, b"cmd=get_maxes\\n")
print(os.read(server, 1000).decode(), end="", flush=True)
os.write(server, b"cmd=put value=" + 900 * b"x" + b"\\n")
sys.stdin.read()
"""


@pytest.fixture
def slurm():
    """The process manager's end of a connection, and the rank's."""
    ours, theirs = socket.socketpair()
    ours.settimeout(20)
    yield ours, theirs
    ours.close()
    theirs.close()


def rank(theirs, **environment):
    """Start a rank whose process manager is at the other end of `theirs`."""
    return subprocess.Popen(
        [sys.executable, "-c", RANK],
        env=os.environ | {"PMI_FD": str(theirs.fileno())} | environment,
        pass_fds=[theirs.fileno()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_the_length_limit_is_halved_and_all_else_is_passed_on(slurm):
    ours, theirs = slurm
    with rank(theirs, SLURM_PROCID="0") as process:
        theirs.close()
        assert ours.recv(1000) == b"cmd=get_maxes\n"
        ours.send(b"cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024\n")
        assert process.stdout.readline() == "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=512\n"
        assert ours.recv(2000) == b"cmd=put value=" + 900 * b"x" + b"\n"
        assert psutil.Process(process.pid).children() == [], "a rank may end all its children, so the relay is none"
        process.kill()
        assert ours.recv(1000) == b"", "the relay must end with the rank"


def test_a_rank_without_slurm_talks_to_its_process_manager_directly(slurm):
    ours, theirs = slurm
    with rank(theirs) as process:
        ours.send(b"cmd=maxes vallen_max=1024\n")
        assert process.stdout.readline() == "cmd=maxes vallen_max=1024\n"
        process.stdin.close()
