"""Do child processes never outlive their parent?"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import psutil
import pytest
from launching import ROOT, eventually, marked

GUARDED = [sys.executable, "-m", "crossover.measure.ranks.ending", sys.executable, "-c"]
SLEEPER = "import time; time.sleep(60)"
# Like a controller: it has children, one of them in a separate session.
FAMILY = f"""
import subprocess, sys, time
for apart in (False, True):
    subprocess.Popen([sys.executable, "-c", {SLEEPER!r}], start_new_session=apart)
"""
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"


class Guarded:
    """Starts guarded commands, and finds their processes by a mark in the environment."""

    def __init__(self):
        self.mark = uuid.uuid4().hex
        self.environment = os.environ | {"PYTHONPATH": str(ROOT / "workflow"), "CROSSOVER_TEST": self.mark}

    def start(self, command):
        return subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL)

    def alive(self):
        return marked(self.mark)

    def sleepers(self):
        """Only the commands, without guard and parent."""
        found = []
        for process in self.alive():
            with contextlib.suppress(psutil.Error):
                line = process.cmdline()
                if line[1:2] == ["-c"] and line[2].endswith("time.sleep(60)"):
                    found.append(process)
        return found


def ignores_termination(pid):
    mask = re.search(r"^SigIgn:\s*(\w+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)[1]
    return int(mask, 16) >> (signal.SIGTERM - 1) & 1


@pytest.fixture
def guarded():
    family = Guarded()
    yield family
    for process in family.alive():
        with contextlib.suppress(psutil.Error):
            process.kill()


def test_a_guarded_commands_children_end_with_it_and_its_exit_code_is_returned(guarded):
    assert guarded.start([*GUARDED, FAMILY + "raise SystemExit(7)"]).wait(30) == 7
    assert guarded.alive() == []


@pytest.mark.parametrize(("program", "count"), [(FAMILY + SLEEPER, 3), (STUBBORN, 1)])
def test_a_command_and_its_children_end_with_the_guard_even_if_they_ignore_termination(guarded, program, count):
    guard = guarded.start([*GUARDED, program])
    assert eventually(lambda: len(guarded.sleepers()) == count)
    assert program != STUBBORN or eventually(lambda: ignores_termination(guarded.sleepers()[0].pid))
    # The kernel signals the death of a parent with many threads repeatedly.
    while guard.poll() is None:
        guard.terminate()
    assert guard.wait(30) == 1
    assert guarded.alive() == []


@pytest.mark.parametrize("victim", ["parent", "command"])
def test_a_kill_of_the_parent_or_the_command_ends_all_of_them(guarded, victim):
    starting = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    parent = guarded.start([sys.executable, "-c", starting, *GUARDED, FAMILY + SLEEPER])
    assert eventually(lambda: len(guarded.sleepers()) == 3)
    guard = next(one for one in guarded.alive() if one.ppid() == parent.pid)
    os.kill(parent.pid if victim == "parent" else guard.children()[0].pid, signal.SIGKILL)
    parent.wait(30)
    assert eventually(lambda: guarded.alive() == []), guarded.alive()


# ---- ranks that outlive rank 0


WATCHING = """
import sys, threading, time
from crossover.measure.ranks.ending import die_soon_after
die_soon_after(int(sys.argv[1]))
print(flush=True)
"""


@pytest.mark.parametrize("occupied", ["time.sleep(60)", "threading.Event().wait()", "while True: pass"])
def test_a_busy_rank_ends_soon_after_the_first_one_dies(occupied):
    first = subprocess.Popen([sys.executable, "-c", SLEEPER])
    other = subprocess.Popen(
        [sys.executable, "-c", WATCHING + occupied, str(first.pid)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "workflow")},
        stdout=subprocess.PIPE,
    )
    try:
        other.stdout.readline()
        assert other.poll() is None
        first.kill()  # and nobody waits for it, so it is a zombie
        assert other.wait(30) == 1
    finally:
        for process in (first, other):
            process.kill()
            process.wait()
