"""Can only one run work in a folder of results, on one host or on several?"""

import os
import re
import signal
import socket
import subprocess
import sys

import pytest

from crossover.errors import CrossoverError
from crossover.records import atomic
from crossover.workflow import folders

HOLD = """
import os, sys
from crossover.errors import CrossoverError
from crossover.workflow import folders
try:
    folders.claim(sys.argv[1])
except CrossoverError as error:
    print("refused", error, flush=True)
    raise SystemExit(1)
print("holding", os.getpid(), flush=True)
input()
"""


class Holder:
    """Another run, which claims `results` and holds it until it ends."""

    def __init__(self, results):
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(results)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.said = self.process.stdout.readline().strip()

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.communicate()


@pytest.fixture
def holder(tmp_path):
    started = []

    def start(results=tmp_path / "results"):
        started.append(Holder(results))
        return started[-1]

    yield start
    for one in started:
        one.end(signal.SIGKILL)


def test_a_second_run_in_the_same_results_is_refused_with_the_holder_and_the_next_step(holder, tmp_path):
    first, second = holder(), holder()
    assert first.said == f"holding {first.process.pid}"
    assert re.search(rf"refused another run \(process {first.process.pid} on .+\) works in {tmp_path}", second.said)
    assert "wait for it, end it, or choose another folder with --config results=" in second.said
    assert f"process {first.process.pid}" in holder().said, "a refused run must leave the claim with its holder"
    assert holder(tmp_path / "elsewhere").said.startswith("holding")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_the_claim_is_released_however_its_holder_ends(holder, how):
    holder().end(how)
    assert holder().said.startswith("holding")


def test_the_commands_that_a_run_starts_do_not_hold_its_claim(holder, tmp_path):
    lives_on = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(5)'])"
    claiming = (
        f"from crossover.workflow import folders; folders.claim({str(tmp_path / 'results')!r}); {lives_on}; print(1)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", claiming + "; import os; os._exit(0)"],
        stdout=subprocess.DEVNULL,
    )
    assert ended.returncode == 0
    assert holder().said.startswith("holding")


def test_a_claim_makes_the_folder_of_results_and_overwrites_an_older_one(tmp_path):
    (tmp_path / ".claim").write_text("x" * 200)
    for folder in (tmp_path, tmp_path / "new" / "results"):
        folders.claim(folder)
        assert (folder / ".claim").read_text() == f"process {os.getpid()} on {socket.gethostname()}"


def held_elsewhere(tmp_path, age_seconds):
    """The claim of a run on another host, whose lock this host does not see."""
    file = tmp_path / ".claim"
    file.write_text("process 7 on elsewhere")
    seconds = file.stat().st_mtime - age_seconds
    os.utime(file, (seconds, seconds))


def test_a_run_on_another_host_is_seen_without_its_lock(tmp_path):
    held_elsewhere(tmp_path, folders.RENEWAL_SECONDS)
    with pytest.raises(CrossoverError, match=r"process 7 on elsewhere\) works in .*if it was killed, .* free 5"):
        folders.claim(tmp_path)
    assert (tmp_path / ".claim").read_text() == "process 7 on elsewhere"
    assert [file.name for file in tmp_path.iterdir()] == [".claim"]
    # A run that was killed there holds nothing after a while.
    held_elsewhere(tmp_path, folders.STALE_SECONDS + 1)
    folders.claim(tmp_path)
    assert "elsewhere" not in (tmp_path / ".claim").read_text()


def test_where_a_file_system_has_no_locks_the_time_of_the_claim_counts(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(folders.fcntl, "flock", refuse)
    folders.claim(tmp_path)
    with pytest.raises(CrossoverError, match="works in"):
        folders.claim(tmp_path)


def test_a_holder_renews_its_claim(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "RENEWAL_SECONDS", 0.01)
    folders.claim(tmp_path)
    os.utime(tmp_path / ".claim", (0, 0))
    while (tmp_path / ".claim").stat().st_mtime == 0:
        pass


def test_a_run_that_ends_leaves_no_holder(holder, tmp_path):
    first = holder()
    first.process.communicate("\n")
    assert (tmp_path / "results/.claim").read_text() == ""


@pytest.mark.parametrize("name", [".claim", "raw", "logs/join.log", "tables/x.parquet"])
def test_a_link_in_the_results_is_refused_and_its_target_stays(tmp_path, name):
    mine, results = tmp_path / "mine", tmp_path / "results"
    mine.write_text("mine")
    (results / name).parent.mkdir(parents=True)
    (results / name).symlink_to(mine)
    with pytest.raises(CrossoverError, match=rf"{name}: is a link, .*; put a copy in its place$"):
        folders.claim(results)
    assert mine.read_text() == "mine"


@pytest.mark.parametrize("put", [os.link, lambda _, place: os.mkfifo(place)], ids=["hard link", "FIFO"])
def test_a_claim_replaces_what_is_no_file_of_its_own(tmp_path, put):
    mine, file = tmp_path / "mine", tmp_path / "results/.claim"
    mine.write_text("mine")
    file.parent.mkdir()
    put(mine, file)
    folders.claim(file.parent)
    assert mine.read_text() == "mine" and file.read_text().startswith("process ")


@pytest.mark.parametrize("put", [os.link, os.symlink])
def test_a_log_replaces_a_link_and_leaves_its_target(tmp_path, put):
    mine, log = tmp_path / "mine", tmp_path / "log"
    mine.write_text("mine")
    put(mine, log)
    with atomic.fresh(log) as lines:
        lines.write(b"log")
    atomic.hidden(tmp_path / "table").symlink_to(mine)
    with atomic.replacing(tmp_path / "table") as part:
        part.write_text("table")
    assert mine.read_text() == "mine" and log.read_text() == "log"
