"""Does every launch end with a whole file, with a hole of a known kind, or without a trace?"""

import fcntl
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from launching import COMMON, ENDLESS, eventually, listening, script, toy_project

from crossover.measure.launch import mpi_launcher
from crossover.measure.ranks import ending
from crossover.planning import receipt
from crossover.planning.receipt import Files
from crossover.records import holes, record


@pytest.fixture
def measuring(toy):
    """A launch whose ranks measure until it is ended."""
    one = toy(**ENDLESS)
    one.start_measuring("working")
    return one


# ---- the toy itself


def test_a_job_that_a_run_repeats_finds_its_raw_file_whatever_the_clock_says(toy):
    one = toy()
    one.environment[receipt.RUN] = "this"
    # No library's warning may end it.
    one.environment["PYTHONWARNINGS"] = "error"
    assert one.run() == 0
    assert one.facts["outcome"] == "measured", one.log.read_text(encoding="utf-8")
    raw = one.output
    for after in (-3600, 3600):
        os.utime(raw, (time.time() + after,) * 2)
        one.receipt.unlink()
        assert one.run() == 0
        assert one.output == raw
        assert "already measured by an earlier job of this run" in one.log.read_text(encoding="utf-8")
    one.environment[receipt.RUN] = "next"
    one.receipt.unlink()
    assert one.run() == 0
    assert one.output != raw


def test_only_blocks_that_lose_messages_have_no_value_and_they_say_so(toy):
    one = toy("lose")
    assert one.run() == 0
    assert {row["validity"] for row in one.rows if row["arm"] == "slow"} == {"lost or damaged messages"}
    assert all((row["value"] is None) == (row["arm"] == "slow") for row in one.rows)


# ---- ranks that go wrong


LINE = r"\(experiments/toy/driver\.py, line \d+\)$"


@pytest.mark.parametrize(
    ("does", "kind", "words"),
    [
        ("raise", "exception", rf"^RuntimeError: the toy has come apart {LINE}"),
        ("other rank: raise", "exception", rf"^RuntimeError: the toy has come apart {LINE}"),
        ("have no cells", "exception", rf"^AttributeError: .* 'size' {LINE}"),
        ("segfault", "crashed", r"Segmentation fault"),
        (
            "die",
            "crashed",
            rf"^rank \d on {socket.gethostname()} was ended by signal 9 \(Killed\), as when memory",
        ),
        ("hang", "crashed", r"Timeout"),
        ("refuse", "wrong set-up", r"^this toy needs a battery; buy one$"),
        ("leave", "crashed", r"ended with code 7"),
        (
            "measure more",
            "exception",
            r"^the driver of toy returned unknown metric 'charge' for arm slow; .*pace;",
        ),
        ("lose everything", "exception", r"^no block has a value; .* missing because: lost or damaged messages"),
        ("measure nothing", "exception", r"^no block of the driver of toy returned a value or a fault"),
    ],
)
def test_ranks_that_go_wrong_become_a_hole_that_names_the_error(toy, does, kind, words):
    reason = toy(does).hole(kind)
    assert re.search(words, reason), reason


def test_an_unknown_experiment_is_refused_by_name(toy):
    one = toy()
    one.file.write_text(one.file.read_text().replace('"toy"', '"toi"'))
    done = subprocess.run(one.command, env=one.environment, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, "unknown experiment 'toi'; available: " in done.stderr) == (1, True)


def test_a_launch_over_its_time_limit_is_ended_and_becomes_a_hole(toy, tmp_path_factory):
    short = ("design/settings.py", "math.ceil(90 + 3 * self.ranks + 4 * self.seconds)", "4")
    one = toy(root=toy_project(tmp_path_factory.mktemp("hurried"), limit=short), **ENDLESS)
    assert one.hole("crashed") == (
        "not finished after 4 s; if it was slow, raise `budget_seconds` of toy in config/config.yaml"
    )


# ---- launchers that go wrong


def test_ranks_that_do_not_find_each_other_are_refused_as_wrongly_placed(toy, tmp_path):
    """The launcher starts each rank by itself, as one does that speaks another protocol than this MPI."""
    one = toy(mpi=str(script(tmp_path / "singly", 'shift 2\n"$@" & "$@" & wait')))
    words = r"1 rank\(s\) met instead of 2, .*add --set-resources launch:mpi=LAUNCHER .*load"
    assert re.match(words, one.hole("wrong set-up"))


@pytest.fixture
def binding(tmp_path):
    """A launcher that binds its ranks to one logical processor, whatever its options."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one logical processor")
    binds = f'exec taskset -c {min(os.sched_getaffinity(0))} mpiexec "$@"'
    return script(tmp_path / "binding", f'[ "$1" = --bind-to ] && shift 2\n{binds}')


def test_ranks_bound_to_a_part_of_the_processors_are_refused_with_the_remedy(toy, binding):
    assert re.match(
        r"rank 0 may use only 1 of its job's \d+ logical processors on \S+, because the launcher binds ranks.*"
        r"launch:mpi=LAUNCHER, such as srun --mpi=pmi2 --cpu-bind=none or mpiexec --bind-to none",
        toy(mpi=str(binding)).hole("wrong set-up"),
    )


def test_a_requested_binding_is_measured(toy, binding):
    one = toy(mpi=f"{binding} --bind-to core")
    assert one.run() == 0
    assert one.facts["outcome"] == "measured"
    assert {len(rank["affinity"].split(",")) for rank in record.metadata(one.table)["ranks"]} == {1}


@pytest.mark.parametrize(
    ("mpi", "free"),
    [("srun --mpi=pmi2 --cpu-bind=cores", False), ("mpiexec -bind-to core", False), ("/opt/unbind/bin/mpiexec", True)],
)
def test_a_binding_is_requested_by_an_option(mpi, free):
    assert mpi_launcher.processors(mpi) == (len(os.sched_getaffinity(0)) if free else 1)


def test_a_launcher_with_options_gets_them(toy, tmp_path):
    launcher = script(tmp_path / "telling", 'echo "launcher was told $1 $2 $3 $4"\nexit 5')
    one = toy(mpi=f"'{launcher}' --mpi=pmi2 'two words'")
    told = "launcher was told --mpi=pmi2 two words -n 2"
    assert one.hole("crashed") == f"the ranks ended with code 5; last words: {told}"


@pytest.mark.skipif(os.getuid() != 0, reason="only root names a host")
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_host_whose_name_is_too_long_for_mpich_measures_what_has_one_rank(launch, toys, ranks):
    one_rank = {"placement": "process", "sizes_bytes": [1, 100], "ceilings": []}
    experiment, settings = ("local_transport", COMMON | one_rank) if ranks == 1 else ("toy", COMMON)
    one = launch(experiment, settings, root=toys)
    assert one.start("unshare", "--uts", "sh", "-c", f'hostname {"h" * 64} && exec "$@"', "sh").wait(60) == 0
    outcome = one.facts
    assert outcome["host"] == "h" * 64
    if ranks == 1:
        assert outcome["outcome"] == "measured", one.log.read_text(encoding="utf-8")
    else:
        assert outcome["hole"] == "wrong set-up"
        assert outcome["reason"].startswith("a host's name has more than 63 characters, which MPICH does not allow; ")


@pytest.mark.skipif(os.getuid() != 0, reason="only root makes namespaces")
def test_a_host_without_a_loopback_is_named_at_once(toy):
    one = toy()
    one.start("unshare", "--net")
    words = r"cannot connect to itself by 127\.0\.0\.1 \(.+\); .*ip link set lo up"
    assert re.search(words, one.hole("wrong set-up"))


@pytest.mark.parametrize("text", ["pthread_create failed for thread 1", "can't start new thread"])
def test_a_limit_of_processes_is_the_reason(text):
    assert "ulimit -u" in str(holes.fault_of_host(["cell 1", f"x: {text}: Resource temporarily unavailable"]))
    assert holes.fault_of_host(["zmq.error.Again: Resource temporarily unavailable"]) is None


@pytest.mark.parametrize(
    ("launcher", "reason"), [("no-such-launcher", "No such file or directory"), ("plain-text", "Permission denied")]
)
def test_a_launcher_that_cannot_be_started_is_named_with_the_next_step(toy, tmp_path, launcher, reason):
    (tmp_path / "plain-text").write_text("no program")
    assert toy(mpi=f"{tmp_path / launcher} --option").hole("wrong set-up") == (
        f"cannot start the MPI launcher '{tmp_path / launcher}' ({reason}); "
        "add --set-resources launch:mpi=LAUNCHER; it must belong to the MPI library that the ranks load, which "
        "LD_LIBRARY_PATH or a module can change"
    )


# ---- ends from outside


@pytest.mark.parametrize("numbers", [[signal.SIGINT], 5 * [signal.SIGTERM, signal.SIGINT]], ids=["INT", "many"])
def test_an_interrupted_launch_ends_with_code_1_and_leaves_nothing(measuring, numbers):
    for number in numbers:
        measuring.process.send_signal(number)
    assert measuring.process.wait(30) == 1
    assert not measuring.receipt.exists()
    measuring.leaves_nothing_but_its_file()
    words = f"interrupted by {numbers[0].name}; launch discarded"
    assert len(numbers) > 1 or words in measuring.log.read_text(encoding="utf-8")


def test_a_launch_ends_when_the_workflow_is_killed(toy):
    one = toy(**ENDLESS)
    # A parent other than the supervisor, like Snakemake's shell without `exec`.
    one.start_measuring("working", (sys.executable, "-c", "import subprocess, sys; subprocess.run(sys.argv[1:])"))
    one.process.kill()
    one.process.wait()
    assert eventually(lambda: not one.processes()), one.processes()
    assert not one.receipt.exists()
    one.leaves_nothing_but_its_file()


def test_ranks_end_with_a_killed_supervisor_and_the_next_launch_deletes_its_files(measuring, toy):
    # No other host could reach a rank.
    ranks = measuring.ranks()
    launchers = [process for process in measuring.processes() if process not in ranks]
    by_launcher = {port for process in launchers for _, port in listening(process)}
    addresses = {address for rank in ranks for address in listening(rank)}
    assert {host for host, port in addresses if port not in by_launcher} == {"127.0.0.1"}
    measuring.ends_with_killed_supervisor()
    stale = f".{measuring.receipt.name}.{socket.gethostname()}.{measuring.process.pid}.part"
    (Files(measuring.receipt).raw_folder / stale).touch()
    again = toy()
    assert again.run() == 0
    assert again.facts["outcome"] == "measured"
    again.leaves_nothing_but_its_file()


def test_a_launch_that_is_interrupted_before_its_ranks_meet_leaves_nothing(toy, tmp_path):
    asleep = ("measure/ranks/peers.py", "        _forget_files(self.comm)", "        time.sleep(600)")
    one = toy(root=toy_project(tmp_path / "late", asleep=asleep))
    one.start()
    assert eventually(lambda: any(ending.mpich_memory(rank.pid) for rank in one.ranks()))
    one.process.send_signal(signal.SIGTERM)
    assert one.process.wait(30) == 1
    one.leaves_nothing_but_its_file()


# ---- one at a time


@contextmanager
def held(one):
    """This host's measuring lock, as another launch holds it."""
    folder = one.temporary / f"crossover-{os.getuid()}-{socket.gethostname()}.lock"
    folder.mkdir(mode=0o700)
    with (folder / "measuring").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_launch_waits_for_another_on_this_host_and_can_be_interrupted(toy, interrupted):
    one = toy()
    with held(one):
        supervisor = one.start()
        words = "another launch runs on this host"
        assert eventually(lambda: one.log.exists() and words in one.log.read_text(encoding="utf-8"))
        assert one.ranks() == []
        assert supervisor.poll() is None
        if interrupted:
            supervisor.terminate()
            assert supervisor.wait(30) == 1
    assert supervisor.wait(60) == interrupted
    assert one.receipt.exists() != interrupted
    assert interrupted or one.facts["outcome"] == "measured"
