"""Does every launch end with a whole file, with a hole of a known kind, or without a trace?"""

import fcntl
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from launching import COMMON, TOY, Launch, eventually, toy_project

from crossover.measure.launch import mpi_launcher
from crossover.measure.ranks import ending
from crossover.planning import receipt
from crossover.planning.receipt import Files
from crossover.records import holes, record

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ENDLESS = {"budget_seconds": 1000, "rounds": {"at_least": 3, "at_most": 10**6}}
SINGLY = """#!/bin/sh
# Starts each rank by itself, as a launcher does that speaks another protocol than this MPI.
shift 2
"$@" & "$@" & wait
"""


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    limit = ("measure/launch/conduct.py", "BLOCK_LIMIT_SECONDS = 120", "BLOCK_LIMIT_SECONDS = 2")
    return toy_project(tmp_path_factory.mktemp("toys"), limit=limit)


@pytest.fixture
def launch(tmp_path, toys):
    """Prepares a launch of the toy, and kills its processes at the end."""
    prepared = []

    def prepare(does="work", mpi="mpiexec", root=toys, **settings):
        prepared.append(Launch(tmp_path, "toy", TOY | {"does": does} | settings, mpi, root))
        return prepared[-1]

    yield prepare
    for one in prepared:
        one.end()


def facts(launch):
    return record.metadata(record.read(launch.output, record.MEASUREMENTS))["launch"]


def hole(launch, code):
    """The hole that a launch left, after a check that it is complete."""
    assert code == 0, launch.log.read_text()
    table = record.read(launch.output, record.MEASUREMENTS)
    found = record.metadata(table)["launch"]
    assert table.num_rows == 0
    assert (found["outcome"], found["experiment"], found["host"]) == ("hole", "toy", socket.gethostname())
    held = receipt.read(launch.receipt)
    assert (held.outcome, held.hole, held.reason) == ("hole", found["hole"], found["reason"])
    assert f"add -R {launch.receipt}" in launch.log.read_text()
    launch.leaves_nothing_but_its_file()
    return found


def measuring(launch):
    """Whether the ranks are measuring."""
    return len(launch.ranks()) == 2 and "working" in launch.log.read_text()


# ---- the toy itself


def test_a_toy_that_works_is_measured(launch):
    toy = launch()
    assert toy.run() == 0
    assert facts(toy)["outcome"] == "measured"
    toy.leaves_nothing_but_its_file()


@pytest.mark.parametrize("after", [-3600, 3600])
def test_a_job_that_a_run_repeats_finds_its_raw_file_whatever_the_clock_says(launch, after):
    toy = launch()
    toy.environment[receipt.RUN] = "this"
    assert toy.run() == 0
    raw = toy.output
    os.utime(raw, (time.time() + after,) * 2)
    toy.receipt.unlink()
    assert toy.run() == 0
    assert toy.output == raw
    assert "already measured by an earlier job of this run" in toy.log.read_text(encoding="utf-8")
    toy.environment[receipt.RUN] = "next"
    toy.receipt.unlink()
    assert toy.run() == 0
    assert toy.output != raw


def test_only_blocks_that_lose_messages_have_no_value_and_they_say_so(launch):
    toy = launch("lose")
    assert toy.run() == 0
    rows = record.read(toy.output, record.MEASUREMENTS).to_pylist()
    assert {row["validity"] for row in rows if row["arm"] == "fancy"} == {"lost or damaged messages"}
    assert all((row["value"] is None) == (row["arm"] == "fancy") for row in rows)


# ---- ranks that go wrong


@pytest.mark.parametrize(
    ("does", "kind", "words"),
    [
        ("raise", "exception", r"^RuntimeError: the toy has come apart \(experiments/toy/driver\.py, line \d+\)$"),
        (
            "other rank: raise",
            "exception",
            r"^RuntimeError: the toy has come apart \(experiments/toy/driver\.py, line \d+\)$",
        ),
        (
            "have no cells",
            "exception",
            r"^AttributeError: .* 'size' \(experiments/toy/driver\.py, line \d+\)$",
        ),
        ("segfault", "crashed", r"Segmentation fault"),
        ("die", "crashed", rf"^rank \d on {socket.gethostname()} was ended by signal 9 \(Killed\)$"),
        ("hang", "crashed", r"Timeout"),
        ("refuse", "not installed", r"^this toy needs a battery; buy one$"),
        ("leave", "crashed", r"ended with code 7"),
        ("other rank: leave", "crashed", r"ended with code 7"),
        ("other rank: flee", "crashed", r"."),
        (
            "measure more",
            "unknown metric",
            r"^the driver of toy returned unknown metric 'charge' for arm fancy; .*time;",
        ),
        ("lose everything", "no value", r"^no block has a value; .* missing because: lost or damaged messages"),
        ("measure nothing", "no value", r"^no block of the driver of toy returned a value or a fault"),
    ],
)
def test_ranks_that_go_wrong_become_a_hole_that_names_the_error(launch, does, kind, words):
    toy = launch(does)
    found = hole(toy, toy.run())
    assert found["hole"] == kind, found["reason"]
    assert re.search(words, found["reason"]), found["reason"]


def test_ranks_that_succeed_without_rows_are_a_hole_too(launch):
    toy = launch("flee")
    assert hole(toy, toy.run())["hole"] == "crashed"


def test_an_unknown_experiment_is_refused_by_name(launch):
    toy = launch()
    toy.file.write_text(toy.file.read_text().replace('"toy"', '"toi"'))
    done = subprocess.run(toy.command, env=toy.environment, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, "unknown experiment 'toi'; available: " in done.stderr) == (1, True)


def test_a_launch_over_its_time_limit_is_ended_and_becomes_a_hole(launch, tmp_path_factory):
    short = ("design/settings.py", "math.ceil(90 + 3 * self.ranks + 4 * self.seconds)", "4")
    toy = launch(root=toy_project(tmp_path_factory.mktemp("hurried"), limit=short), **ENDLESS)
    found = hole(toy, toy.run())
    assert found["hole"] == "timed out"
    assert found["reason"] == (
        "not finished after 4 s; if it was slow, raise `budget_seconds` of toy in config/config.yaml"
    )


# ---- launchers that go wrong


def test_ranks_that_do_not_find_each_other_are_refused_as_wrongly_placed(launch, tmp_path):
    launcher = tmp_path / "singly"
    launcher.write_text(SINGLY)
    launcher.chmod(0o755)
    toy = launch(mpi=str(launcher))
    found = hole(toy, toy.run())
    assert found["hole"] == "wrong placement"
    assert re.match(r"1 rank\(s\) met instead of 2, .*add --set-resources launch:mpi=LAUNCHER .*load", found["reason"])


@pytest.fixture
def binding(tmp_path):
    """A launcher that binds its ranks to one logical processor, whatever its options."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one logical processor")
    program = tmp_path / "binding"
    one = min(os.sched_getaffinity(0))
    program.write_text(f'#!/bin/sh\n[ "$1" = --bind-to ] && shift 2\nexec taskset -c {one} mpiexec "$@"\n')
    program.chmod(0o755)
    return program


def test_ranks_bound_to_a_part_of_the_processors_are_refused_with_the_remedy(launch, binding):
    toy = launch(mpi=str(binding))
    found = hole(toy, toy.run())
    assert found["hole"] == "wrong placement"
    assert re.match(
        r"rank 0 may use only 1 of its job's \d+ logical processors on \S+, because the launcher binds ranks.*"
        r"launch:mpi=LAUNCHER, such as srun --mpi=pmi2 --cpu-bind=none or mpiexec --bind-to none",
        found["reason"],
    )


def test_a_requested_binding_is_measured(launch, binding):
    toy = launch(mpi=f"{binding} --bind-to core")
    assert toy.run() == 0
    found = record.metadata(record.read(toy.output, record.MEASUREMENTS))
    assert found["launch"]["outcome"] == "measured"
    assert {len(rank["affinity"].split(",")) for rank in found["ranks"]} == {1}


@pytest.mark.parametrize(
    ("mpi", "free"),
    [("srun --mpi=pmi2 --cpu-bind=cores", False), ("mpiexec -bind-to core", False), ("/opt/unbind/bin/mpiexec", True)],
)
def test_a_binding_is_requested_by_an_option(mpi, free):
    assert mpi_launcher.processors(mpi) == (len(os.sched_getaffinity(0)) if free else 1)


def test_a_launcher_with_options_gets_them(launch, tmp_path):
    launcher = tmp_path / "telling"
    launcher.write_text('#!/bin/sh\necho "launcher was told $1 $2 $3 $4"\nexit 5\n')
    launcher.chmod(0o755)
    toy = launch(mpi=f"'{launcher}' --mpi=pmi2 'two words'")
    found = hole(toy, toy.run())
    assert found["hole"] == "crashed"
    assert found["reason"] == "the ranks ended with code 5; last words: launcher was told --mpi=pmi2 two words -n 2"


@pytest.mark.skipif(os.getuid() != 0, reason="only root names a host")
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_host_whose_name_is_too_long_for_mpich_measures_what_has_one_rank(tmp_path, toys, ranks):
    one_rank = {"placement": "process", "sizes_bytes": [1, 100], "ceilings": []}
    experiment, settings = ("local_transport", COMMON | one_rank) if ranks == 1 else ("toy", TOY)
    toy = Launch(tmp_path, experiment, settings, root=toys)
    assert toy.start("unshare", "--uts", "sh", "-c", f'hostname {"h" * 64} && exec "$@"', "sh").wait(60) == 0
    outcome = facts(toy)
    assert outcome["host"] == "h" * 64
    if ranks == 1:
        assert outcome["outcome"] == "measured", toy.log.read_text(encoding="utf-8")
    else:
        assert outcome["hole"] == "crashed"
        assert outcome["reason"].startswith("a host's name has more than 63 characters, which MPICH does not allow; ")


def test_warnings_as_errors_do_not_keep_a_launch_from_its_end(launch):
    toy = launch()
    toy.environment["PYTHONWARNINGS"] = "error"
    assert toy.run() == 0
    assert facts(toy)["outcome"] == "measured", toy.log.read_text(encoding="utf-8")


@pytest.mark.skipif(os.getuid() != 0, reason="only root makes namespaces")
def test_a_host_without_a_loopback_is_named_at_once(launch):
    toy = launch()
    assert toy.start("unshare", "--net").wait(60) == 0
    found = facts(toy)
    assert found["hole"] == "wrong interface"
    assert re.search(r"cannot connect to itself by 127\.0\.0\.1 \(.+\); .*ip link set lo up", found["reason"])


@pytest.mark.parametrize("text", ["pthread_create failed for thread 1", "can't start new thread"])
def test_a_limit_of_processes_is_the_reason(text):
    assert "ulimit -u" in holes.fault_of_host(["cell 1", f"x: {text}: Resource temporarily unavailable"])
    assert holes.fault_of_host(["zmq.error.Again: Resource temporarily unavailable"]) == ""


def test_a_missing_launcher_is_named_with_the_next_step(launch):
    toy = launch(mpi="no-such-launcher --option")
    found = hole(toy, toy.run())
    assert found["hole"] == "not installed"
    assert found["reason"] == (
        "cannot start the MPI launcher 'no-such-launcher' (No such file or directory); "
        "add --set-resources launch:mpi=LAUNCHER; it must belong to the MPI library that the ranks load, which "
        "LD_LIBRARY_PATH or a module can change"
    )


def test_a_launcher_that_may_not_be_executed_is_named_with_the_next_step(launch, tmp_path):
    launcher = tmp_path / "plain-text"
    launcher.write_text("no program")
    toy = launch(mpi=str(launcher))
    found = hole(toy, toy.run())
    assert found["hole"] == "not installed"
    assert f"{launcher}' (Permission denied); add --set-resources" in found["reason"]


# ---- ends from outside


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_an_interrupted_launch_ends_with_code_1_and_leaves_nothing(launch, number):
    toy = launch(**ENDLESS)
    supervisor = toy.start()
    assert eventually(lambda: measuring(toy))
    supervisor.send_signal(number)
    assert supervisor.wait(30) == 1
    assert not toy.receipt.exists()
    toy.leaves_nothing_but_its_file()
    assert f"interrupted by {number.name}; launch discarded" in toy.log.read_text(encoding="utf-8")


def test_a_second_interruption_does_not_stop_the_cleanup(launch):
    toy = launch(**ENDLESS)
    supervisor = toy.start()
    assert eventually(lambda: measuring(toy))
    for _ in range(5):
        supervisor.send_signal(signal.SIGTERM)
        supervisor.send_signal(signal.SIGINT)
    assert supervisor.wait(30) == 1
    assert not toy.receipt.exists()
    toy.leaves_nothing_but_its_file()


def test_a_launch_ends_when_the_workflow_is_killed(launch):
    toy = launch(**ENDLESS)
    # A parent other than the supervisor, like Snakemake's shell without `exec`.
    workflow = toy.start(sys.executable, "-c", "import subprocess, sys; subprocess.run(sys.argv[1:])")
    assert eventually(lambda: measuring(toy))
    os.kill(workflow.pid, signal.SIGKILL)
    workflow.wait()
    assert eventually(lambda: not toy.processes()), toy.processes()
    assert not toy.receipt.exists()
    toy.leaves_nothing_but_its_file()


def test_ranks_end_with_a_killed_supervisor_and_the_next_launch_deletes_its_files(launch):
    toy = launch(**ENDLESS)
    supervisor = toy.start()
    assert eventually(lambda: measuring(toy))
    supervisor.kill()
    supervisor.wait()
    assert eventually(lambda: not toy.processes()), toy.processes()
    assert not toy.receipt.exists()
    stale = f".{toy.receipt.name}.{socket.gethostname()}.{supervisor.pid}.part"
    (Files(toy.receipt).raw_folder / stale).touch()
    again = launch()
    assert again.run() == 0
    assert facts(again)["outcome"] == "measured"
    again.leaves_nothing_but_its_file()


@pytest.fixture
def late(launch, tmp_path_factory):
    """A launch whose ranks have initialised MPI, but do not meet for a minute."""
    asleep = ("measure/ranks/peers.py", "        _forget_files(self.comm)", "        time.sleep(60)")
    toy = launch(root=toy_project(tmp_path_factory.mktemp("late"), asleep=asleep))
    toy.start()
    assert eventually(lambda: any(ending.mpich_memory(rank.pid) for rank in toy.ranks()))
    return toy


def test_a_launch_that_is_interrupted_before_its_ranks_meet_leaves_nothing(late):
    late.process.send_signal(signal.SIGTERM)
    assert late.process.wait(30) == 1
    late.leaves_nothing_but_its_file()


# ---- no access from other hosts


def test_ranks_listen_only_on_this_host(launch):
    toy = launch(does="work", **ENDLESS)
    toy.start()
    assert eventually(lambda: measuring(toy))
    launchers = {process.pid for process in toy.processes()} - {rank.pid for rank in toy.ranks()}
    by_launcher = {port for process in launchers for _, port in _ports(process)}
    assert {host for host, port in _listening(toy) if port not in by_launcher} == {"127.0.0.1"}


def _listening(launch):
    return {address for rank in launch.ranks() for address in _ports(rank.pid)}


def _ports(pid):
    with suppress(psutil.Error):
        return {tuple(each.laddr) for each in psutil.Process(pid).net_connections("tcp") if each.status == "LISTEN"}
    return set()


# ---- one at a time


@contextmanager
def held(toy):
    """This host's measuring lock, as another launch holds it."""
    folder = toy.temporary / f"crossover-{os.getuid()}-{socket.gethostname()}.lock"
    folder.mkdir(mode=0o700)
    with (folder / "measuring").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def test_a_launch_waits_for_another_on_this_host(launch):
    toy = launch()
    with held(toy):
        supervisor = toy.start()
        assert eventually(
            lambda: toy.log.exists() and "another launch runs on this host" in toy.log.read_text(encoding="utf-8")
        )
        assert toy.ranks() == []
        assert supervisor.poll() is None
    assert supervisor.wait(60) == 0
    assert facts(toy)["outcome"] == "measured"


def test_a_launch_that_waits_can_be_interrupted(launch):
    toy = launch()
    with held(toy):
        supervisor = toy.start()
        assert eventually(
            lambda: toy.log.exists() and "another launch runs on this host" in toy.log.read_text(encoding="utf-8")
        )
        supervisor.terminate()
        assert supervisor.wait(30) == 1
    assert not toy.receipt.exists()
