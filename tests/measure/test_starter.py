"""Does the starter start ranks that find each other, without an open port, and leave nothing if one fails?"""

import os
import socket
import subprocess
import sys
import time

import psutil
import pytest
from launching import ROOT, eventually, listening

from crossover.measure.launch import mpi_launcher, starter

MEET = "import os; from mpi4py import MPI; comm = MPI.COMM_WORLD; "


@pytest.fixture
def program():
    """Starts this many ranks of a program that may initialise MPI, and ends its processes at the end."""
    processes = []

    def start(ranks, text):
        environment = os.environ | {"PYTHONPATH": str(ROOT / "workflow")}
        command = [*mpi_launcher.starting("mpiexec", ranks, 1), sys.executable, "-m", "mpi4py", "-c", text]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        processes.append(subprocess.Popen(command, env=environment, text=True, **streams))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()


def test_launches_side_by_side_do_not_meet(program):
    """MPICH names shared memory after the key-value space; with the same name, launches would mix their messages."""
    text = MEET + "[comm.allreduce(comm.rank) for _ in range(1000)]; os.write(1, b'%d\\n' % comm.size)"
    both = [program(ranks, text) for ranks in (2, 3)]
    assert [one.communicate(timeout=60)[0].split() for one in both] == [["2"] * 2, ["3"] * 3]
    assert len({starter.Server([]).name for _ in range(100)}) == 100


@pytest.mark.parametrize(
    ("ending", "code", "words"),
    [
        ("sys.exit(7)", 7, ""),
        ("os.kill(os.getpid(), 9)", 137, f"rank 1 on {socket.gethostname()} was ended by signal 9 (Killed)"),
        ("os._exit(0)", 1, f"rank 1 on {socket.gethostname()} ended before MPI_Finalize"),
        ("comm.Abort(5)", 5, ""),
    ],
)
def test_the_first_rank_that_fails_ends_all_at_once(program, ending, code, words):
    text = f"import os, sys, time; {MEET}comm.Barrier(); {ending} if comm.rank == 1 else time.sleep(60)"
    process = program(3, text)
    assert eventually(lambda: len(psutil.Process(process.pid).children()) == 3)
    ranks = psutil.Process(process.pid).children()
    said, _ = process.communicate(timeout=30)
    assert process.returncode == code, said
    assert words in said
    assert not any(rank.is_running() and rank.status() != psutil.STATUS_ZOMBIE for rank in ranks)


def test_it_sleeps_does_not_listen_shares_its_session_and_ends_its_ranks_when_it_is_ended(program):
    """Linux divides processors between sessions; two ranks in two sessions would get half of them each."""
    process = program(2, MEET + "import time; print(comm.size, flush=True); time.sleep(60)")
    assert process.stdout.readline()
    starting = psutil.Process(process.pid)
    ranks = starting.children()
    assert {os.getsid(one.pid) for one in (starting, *ranks)} == {os.getsid(0)}
    assert listening(starting) == set()
    before = starting.cpu_times()
    time.sleep(0.5)
    after = starting.cpu_times()
    assert (after.user + after.system) - (before.user + before.system) < 0.1
    process.terminate()
    assert process.wait(30) == 128 + 15
    assert not any(rank.is_running() and rank.status() != psutil.STATUS_ZOMBIE for rank in ranks)


def test_unknown_requests_are_refused():
    ours, theirs = starter.socket.socketpair()
    rank = starter.Rank(0, None, ours)
    server = starter.Server([rank])
    for line in ("cmd=spawn", "cmd=get kvsname=x key=unknown"):
        server.handle(rank, line)
    assert theirs.recv(1000).decode().splitlines() == [
        "cmd=spawn rc=-1 msg=not_supported",
        "cmd=get_result rc=-1 msg=unknown_key",
    ]
    theirs.sendall(b"cmd=put kvsname=x key=a val")
    assert list(rank.lines()) == []
    theirs.sendall(b"ue=b\ncmd=get kvsname=x key=a\n")
    for line in rank.lines():
        server.handle(rank, line)
    assert theirs.recv(1000).decode().splitlines()[-1] == "cmd=get_result rc=0 msg=success value=b"


def test_other_launchers_are_not_changed():
    assert mpi_launcher.starting("srun --mpi=pmi2", 3, 2) == ["srun", "--mpi=pmi2", "-n", "3"]
    assert mpi_launcher.starting("mpiexec -bind-to core", 3, 1) == ["mpiexec", "-bind-to", "core", "-n", "3"]
    assert mpi_launcher.starting("mpiexec", 3, 2) == ["mpiexec", "-n", "3"]
    assert mpi_launcher.starting("mpiexec", 3, 1)[0] == sys.executable
