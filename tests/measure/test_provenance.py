"""Does a rank record its facts, notice disturbances, and measure the peak memory of a flood with its messages?"""

import os
import socket
import subprocess
import time
from functools import partial
from pathlib import Path
from statistics import median
from types import SimpleNamespace

import psutil
import pytest
from launching import COMMON, eventually, script, settings

from crossover import programs
from crossover.design.arm import Arm
from crossover.errors import CrossoverError
from crossover.experiments.zmq_throughput import EXPERIMENT
from crossover.experiments.zmq_throughput import driver as zmq_throughput
from crossover.measure.ranks import provenance, variables
from crossover.measure.ranks.network import Reach
from crossover.measure.ranks.peers import Peers
from crossover.records import record

QUIET = {"ticks": 0, "steal": 0, "swapped": 0, "throttled": 0, "out of quota": 0}
MESSAGE_BYTES = 40_000_000
"""More than glibc ever keeps of freed memory, so that no block reuses the memory of the previous one."""

FLOOD = COMMON | {
    "placement": "process",
    "block_seconds": 1e-5,
    "rounds": {"at_least": 3, "at_most": 5},
    "sizes_bytes": [MESSAGE_BYTES],
    "arms": ["copy", "no-copy"],
    "reference": "copy",
    "curves": ["PUSH/PULL over inproc", "PUSH/PULL over ipc"],
    "ceilings": [],
    "lead_in_seconds": 1e-5,
    "in_flight_messages": 2000,
    "in_flight_bytes": 3 * MESSAGE_BYTES,
}

needs_peak_memory = pytest.mark.skipif(
    not provenance.watch_peak_memory()(), reason="this kernel does not let a process reset its peak memory"
)


def test_the_facts_are_those_of_this_process_and_host():
    facts = provenance.gather(Reach())
    assert set(facts) == set(record.RANKS.names) - {"experiment", "placement", "launch", "rank"}
    (row,) = record.from_rows([facts], record.RANKS).select(list(facts)).to_pylist(maps_as_pydicts="strict")
    assert row == facts
    assert facts["host"] == socket.gethostname()
    assert facts["logical_cpus"] == os.cpu_count()
    assert {int(cpu) for cpu in facts["affinity"].split(",")} == os.sched_getaffinity(0)
    assert facts["kernel"] == os.uname().release
    assert facts["memory_bytes"] > 2**28
    assert set(facts["libraries"]) >= {"libzmq", "pyzmq", "mpi4py", "numpy"}
    assert "lo" in facts["network"]


def test_an_unknown_fact_is_none(monkeypatch):
    for name in [name for name in os.environ if name.startswith(("SLURM_", "APPTAINER_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(provenance, "_text", lambda path: None)
    facts = provenance.gather(Reach())
    assert facts["governor"] is None and facts["slurm"] is None
    assert provenance.slurm_job(0.0) == {}
    assert provenance.Disturbance()() == "ok"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("transparent huge pages", "always [madvise] never\n", "madvise"),
        ("SMT", "1\n", "on"),
        ("no turbo", "0\n", "off"),
        ("boost", None, None),
    ],
)
def test_settings_of_the_kernel_are_recorded_if_it_has_them(tmp_path, monkeypatch, name, text, value):
    if text:
        (tmp_path / "file").write_text(text)
    monkeypatch.setattr(variables, "TUNING", {name: str(tmp_path / "file")})
    assert provenance.gather(Reach())["tuning"].get(name) == value


# ---- Slurm's job


JOB = "JobId=7 JobName=x SubmitTime=2026-11-21T18:00:00 EligibleTime=2026-11-21T18:00:00 StartTime=2026-11-21T18:01:30"


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (f"echo {JOB}", {}),
        *(
            (f"echo {JOB} OverSubscribe={word} Contiguous=0", {"exclusive": word == "NO"})
            for word in ("NO", "OK", "USER")
        ),
        *(
            (text, None)
            for text in (
                "echo Invalid job id specified >&2",
                "echo JobId=7 StartTime=Unknown",
                f"echo {JOB.replace('2026', 'x')}",
            )
        ),
    ],
)
def test_a_job_tells_its_times_and_whether_it_has_its_nodes_to_itself_or_nothing(tmp_path, monkeypatch, text, known):
    script(tmp_path / "scontrol", f'test "$*" = "--oneliner show job 7" && {text}')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert provenance.gather(Reach())["slurm"]["SLURM_JOB_ID"] == "7"
    provenance._scontrol.cache_clear()
    monkeypatch.setattr(provenance, "_job_seconds", lambda _: 10.0)
    times = {"job": "7", "queued_seconds": 90.0, "entering_seconds": 6.0}
    assert provenance.slurm_job(4.0) == (times | known if known is not None else {})


@pytest.mark.parametrize("silent", ["echo Unable to contact slurm controller >&2; exit 1", "exit 1"])
def test_a_job_without_an_answer_measures_nothing(tmp_path, monkeypatch, silent):
    script(tmp_path / "scontrol", silent)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setattr(programs, "PATIENCE_SECONDS", 1.5)
    provenance._scontrol.cache_clear()
    with pytest.raises(CrossoverError, match="Slurm does not answer: scontrol: "):
        provenance.seconds_left()


@pytest.mark.parametrize("ahead", [-900, -3, 0, 20, 200])
def test_a_job_is_as_old_as_its_first_process_whatever_the_clock_of_its_host_says(monkeypatch, ahead):
    monkeypatch.setenv("SLURM_JOB_ID", "unlike any other")
    first = subprocess.Popen(["sleep", "60"], start_new_session=True)
    # The kernel shows its variables a moment after it has started.
    assert eventually(lambda: b"SLURM_JOB_ID=unlike" in Path(f"/proc/{first.pid}/environ").read_bytes())
    monkeypatch.setattr(provenance, "age_seconds", lambda process="self": 30.0 if process == str(first.pid) else 5.0)
    now = time.time()
    times = {"StartTime": now - 30 - ahead, "EndTime": now - 30 - ahead + 600}
    monkeypatch.setattr(provenance, "_job_facts", dict)
    monkeypatch.setattr(provenance, "_times", lambda _: times)
    try:
        assert provenance.seconds_left() == pytest.approx(550 if ahead == 20 else 570, abs=2)
        assert bool(provenance.clock_fault()) == (abs(ahead) > provenance.CLOCK_SECONDS)
    finally:
        first.kill()
        first.wait()


def test_the_age_of_a_process_is_independent_of_the_wall_clock(monkeypatch):
    age = time.time() - psutil.Process().create_time()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert provenance.age_seconds() == pytest.approx(age, abs=1)


# ---- disturbances


def disturbance(monkeypatch, *counters):
    """A Disturbance that reads these counters in turn."""
    heard = iter(counters)
    monkeypatch.setattr(provenance.Disturbance, "_counters", lambda self: QUIET | next(heard))
    return provenance.Disturbance()


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, "ok"),
        ({"ticks": 100, "steal": 9}, "ok"),
        ({"ticks": 100, "steal": 11}, "steal time"),
        ({"ticks": 0, "steal": 0}, "ok"),
        ({"swapped": 1}, "swapped"),
        ({"throttled": 1}, "throttled"),
        ({"out of quota": 1}, "processor quota"),
        ({"ticks": 100, "steal": 50, "swapped": 3}, "swapped"),
        ({"ticks": 100, "steal": 50, "swapped": 3, "throttled": 1}, "throttled"),
    ],
)
def test_a_round_is_marked_with_its_own_disturbance_alone(monkeypatch, changed, told):
    before = {"ticks": 1000, "steal": 900, "swapped": 7, "throttled": 7}
    after = before | {name: before.get(name, 0) + count for name, count in changed.items()}
    rounds = disturbance(monkeypatch, before, before, after, after)
    assert [rounds(), rounds(), rounds()] == ["ok", told, "ok"]


def test_the_counters_are_read_from_the_kernels_files(monkeypatch):
    files = {
        "/proc/stat": "cpu  1 2 4 8 16 32 64 128 256 512\ncpu0 9 9 9 9 9 9 9 9 9 9\n",
        "/proc/vmstat": "pgpgin 5\npswpin 3\npswpout 4\npswpoutx 100\n",
        "/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count": "6",
    }
    monkeypatch.setattr(provenance, "_text", files.get)
    # Guest time, the last two, is part of user time already.
    expected = {"ticks": 255, "steal": 128, "swapped": 7, "throttled": 6, "out of quota": 0}
    assert provenance.Disturbance()._counters() == expected


@pytest.mark.parametrize(
    ("lines", "folders", "limited"),
    [
        ("0::/job/step", ["job/step", "job", "."], 3),
        ("0::/elsewhere/seen/by/the/host", ["."], 1),
        ("4:memory:/m\n1:cpu,cpuacct:/job\n0::/", ["cpu,cpuacct/job", "cpu,cpuacct", "unified", "memory/m"], 3),
        ("1:cpu:/job", ["cpu/job", "cpu", "cpuset/job"], 2),
        ("", ["."], 0),
    ],
    ids=["version 2", "in a container", "both versions", "version 1", "none"],
)
def test_quota_and_memory_of_a_control_group_or_of_one_above_are_noticed(
    tmp_path, monkeypatch, lines, folders, limited
):
    for folder in folders:
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "cpu.stat").write_text("nr_periods 9\nnr_throttled 1\nthrottled_usec 5\n")
    for folder, limit in (("job", "1000000"), ("job/step", "max")) if "job" in folders else ():
        (tmp_path / folder / "memory.max").write_text(f"{limit}\n")
    text = provenance._text
    monkeypatch.setattr(provenance, "_text", lambda path: lines if path == "/proc/self/cgroup" else text(path))
    monkeypatch.setattr(provenance, "CONTROL_GROUPS", tmp_path)
    assert provenance._granted_bytes() == ([1_000_000] if "job" in folders else [])
    disturbance = provenance.Disturbance()
    assert disturbance._seen["out of quota"] == limited
    for folder in folders:
        (tmp_path / folder / "cpu.stat").write_text("nr_periods 10\nnr_throttled 2\n")
    assert (disturbance._counters()["out of quota"] == 2 * limited) and ("quota" in disturbance()) == (limited > 0)


def test_a_container_is_named_by_its_signs(monkeypatch, tmp_path):
    for variable in ("APPTAINER_NAME", "SINGULARITY_NAME"):
        monkeypatch.delenv(variable, raising=False)
    mark = tmp_path / "mark"
    monkeypatch.setattr(provenance, "CONTAINER_FILES", {str(mark): "podman"})
    assert provenance._container() is None
    mark.touch()
    assert provenance._container() == "podman"
    monkeypatch.setenv("SINGULARITY_NAME", "image.sif")
    assert provenance._container() == "image.sif"


# ---- commit


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A git repository with one commit, which seems to contain the package."""
    for variable in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(variable)
    module = tmp_path / "workflow" / "provenance.py"
    module.parent.mkdir()
    module.write_text("VALUE = 1\n")
    monkeypatch.setattr(provenance, "PROJECT", tmp_path)

    def git(*words):
        identity = ("-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false")
        return subprocess.run(
            ["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "one")
    return module, git


def test_the_commit_of_a_checkout_is_its_hash_with_a_plus_after_a_change_of_the_code(checkout, monkeypatch):
    module, git = checkout
    clean = git("rev-parse", "--short=12", "HEAD")
    (module.parent / "results.parquet").touch()
    assert provenance.commit() == clean and len(clean) == 12
    module.write_text("VALUE = 2\n")
    assert provenance.commit() == f"{clean}+"
    # One that encloses the project, or that a variable names, is not ours.
    for variable in ("NONE", "GIT_DIR"):
        monkeypatch.setattr(provenance, "PROJECT", module.parent)
        monkeypatch.setenv(variable, str(module.parents[1] / ".git"))
        assert provenance.commit() == ""
    monkeypatch.setenv("PATH", "")
    assert provenance.commit() == ""


@needs_peak_memory
def test_memory_that_was_freed_before_does_not_count():
    peak_bytes = provenance.watch_peak_memory()
    empty_handed = peak_bytes()
    held = bytearray(empty_handed)
    del held
    holding = peak_bytes()
    assert holding > 1.8 * empty_handed
    assert provenance.watch_peak_memory()() < 0.7 * holding


@needs_peak_memory
@pytest.mark.parametrize("placement", ["process", pytest.param("node", marks=pytest.mark.long)])
def test_copying_a_burst_takes_more_memory_than_lending_it(launch, placement):
    one = launch("zmq_throughput", FLOOD | {"placement": placement})
    assert one.run() == 0, one.log.read_text()
    peaks = [row for row in one.rows if row["metric"] == "peak memory"]
    copying, lending = (median(row["value"] for row in peaks if row["runs"] == arm) for arm in FLOOD["arms"])
    # A copying block has one copy more, plus messages that its receiver has not freed yet.
    assert copying - lending > 0.8 * MESSAGE_BYTES / 1e6


def test_without_the_kernels_support_a_block_has_all_other_metrics(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "PEAK_RESET", tmp_path / "no such folder" / "clear_refs")
    alone = SimpleNamespace(placement="process")
    alone.other_end = partial(Peers.other_end, alone)
    own = settings("zmq_throughput", FLOOD | {"sizes_bytes": [100]})
    (cell,) = zmq_throughput.cells(own)
    with zmq_throughput.drive(alone, own) as sender:
        block = sender.run(cell, Arm("copy", "copy"), 10)
    assert not block.fault
    assert set(block.values) == {metric.name for metric in EXPERIMENT.metrics} - {"peak memory", "overstatement"}
