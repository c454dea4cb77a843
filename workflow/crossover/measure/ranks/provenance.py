"""Facts of a rank's process and host, gathered on the rank itself; its peak memory, and disturbances."""

import importlib.metadata
import json
import math
import os
import platform
import re
import socket
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import psutil

from crossover import programs
from crossover.design.farms import declared
from crossover.design.launch import MPI_LIBRARY
from crossover.measure.ranks import variables
from crossover.measure.ranks.network import Reach
from crossover.paths import PROJECT
from crossover.records.rows import TOPOLOGY

LIBRARIES = ("crossover", "pyzmq", "mpi4py", "mpich", "openmpi", "numpy")
"""Packages whose versions every launch records, besides those of its experiment and of all task farms."""

CONTAINER_FILES = {"/.dockerenv": "docker", "/run/.containerenv": "podman"}
"""Files by which container programs mark a container."""

CONTROL_GROUPS = Path("/sys/fs/cgroup")

PEAK_RESET = Path("/proc/self/clear_refs")
PEAK_STATUS = Path("/proc/self/status")

STEAL_SHARE = 0.1
"""A round is disturbed if other guests of the hypervisor take this share of processor time."""


def gather(reach: Reach, packages: Iterable[str] = ()) -> dict[str, object]:
    """The facts of this process and host: the columns of `record.RANKS` without rank and launch.

    `reach` is the address on which it listens, `packages` are those of the experiment. Facts that this system does not
    provide are None.
    """
    from crossover.measure.ranks.peers import thread_level

    wanted = ("SLURM_JOB", TOPOLOGY)
    job = {name: value for name, value in sorted(os.environ.items()) if name.startswith(wanted)}
    model = re.search(r"^model name\s*:\s*(.+)$", _text("/proc/cpuinfo") or "", re.MULTILINE)
    return {
        "host": socket.gethostname(),
        "interface": reach.interface,
        "address": reach.address,
        "cpu": model[1].strip() if model else platform.processor() or None,
        "logical_cpus": os.cpu_count(),
        "load": os.getloadavg()[0],
        "affinity": ",".join(map(str, sorted(os.sched_getaffinity(0)))),
        "governor": _text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "memory_bytes": min([psutil.virtual_memory().total, *_granted_bytes()]),
        "kernel": platform.release(),
        "os": _os_name(),
        # Interfaces that are up, with their speed in Mbit/s (0: unknown).
        "network": {name: facts.speed for name, facts in sorted(psutil.net_if_stats().items()) if facts.isup},
        "python": _python(),
        "libraries": _libraries(packages) | {MPI_LIBRARY: _mpi_library()},
        "mpi": f"{_mpi_library()}, thread level {thread_level()}",
        "slurm": job or None,
        "container": _container(),
        "variables": json.loads(variables.recorded()),
        "tuning": variables.tuning(),
    }


def _granted_bytes() -> list[int]:
    """The limits of memory of this process's control groups, such as those of a container or a job."""
    files = [*_of_groups("memory", "memory.max"), *_of_groups("memory", "memory.limit_in_bytes")]
    return [int(limit) for file in files if (limit := _text(str(file)) or "").isdigit()]


def _text(path: str) -> str | None:
    with suppress(OSError):
        return Path(path).read_text(encoding="utf-8").strip()
    return None


def _os_name() -> str:
    with suppress(OSError):
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    return platform.system()


def _libraries(packages: Iterable[str]) -> dict[str, str]:
    import zmq

    found = {"libzmq": zmq.zmq_version()}
    for name in (*LIBRARIES, *packages, *(package for farm in declared().values() for package in farm.packages)):
        with suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def software(packages: Iterable[str] = ()) -> dict[str, str]:
    """What software a launch here would have, as in its receipt; `packages` are those of experiments."""
    return _libraries(packages) | {"python": _python(), "variables": variables.recorded()}


def _python() -> str:
    # The build too: interpreters of one version differ in speed with their compiler, and in threads without a lock.
    build = ", ".join([*platform.python_build(), platform.python_compiler()])
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        build += ", free-threaded" + ", with its lock" * sys._is_gil_enabled()  # type: ignore[attr-defined]
    return f"{platform.python_implementation()} {platform.python_version()} ({build})"


def _mpi_library() -> str:
    # Imported here, because Snakemake needs the versions of software, and may lack it.
    from mpi4py import MPI

    return " ".join(MPI.Get_library_version().strip("\0").splitlines()[0].split())


def _container() -> str | None:
    """The container's name, or the program that made it; None if there is no sign of one."""
    named = (os.environ.get(name) for name in ("APPTAINER_NAME", "SINGULARITY_NAME"))
    marked = (program for file, program in CONTAINER_FILES.items() if Path(file).exists())
    return next(filter(None, (*named, *marked)), None)


def age_seconds(process: str = "self") -> float:
    """Seconds since a process started, by a clock that nobody can set; this one or another, by its number."""
    ticks = int(
        Path("/proc", process, "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    )  # field 22, starttime, of proc(5)
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def slurm_job(ago_seconds: float = 0.0) -> dict[str, Any]:
    """The number of this Slurm job, the seconds that it waited in the queue, those from its start until so many seconds
    ago, and whether it has its nodes to itself.

    As {job, queued_seconds, entering_seconds, exclusive}; the last only if Slurm
    says so, and empty outside Slurm.
    """
    facts = _job_facts()
    times = _times(facts)
    if not {"SubmitTime", "StartTime"} <= times.keys():
        return {}
    started = times["StartTime"]
    queued = started - times["SubmitTime"]
    # NO for exclusive nodes, otherwise OK, YES, USER or MCS.
    own = {"exclusive": facts["OverSubscribe"] == "NO"} if "OverSubscribe" in facts else {}
    entering = max(0.0, _job_seconds(started) - ago_seconds)
    return {"job": os.environ["SLURM_JOB_ID"], "queued_seconds": queued, "entering_seconds": entering} | own


def granted_processors() -> float:
    """The logical processors of this Slurm job beside other jobs; infinite elsewhere."""
    facts = _job_facts()
    beside_others = facts.get("OverSubscribe", "NO") != "NO"
    return int(facts["NumCPUs"]) if beside_others and facts.get("NumCPUs", "").isdecimal() else math.inf


def job_hosts() -> list[str]:
    """The names of the nodes of this Slurm job; none outside Slurm."""
    nodes = _job_facts().get("NodeList", "")
    return _scontrol("hostnames", nodes).split() if nodes else []


def seconds_left() -> float:
    """The time until Slurm ends this job; infinite outside Slurm, or without a limit."""
    times = _times(_job_facts())
    if not {"StartTime", "EndTime"} <= times.keys():
        return math.inf
    return times["EndTime"] - times["StartTime"] - _job_seconds(times["StartTime"])


CLOCK_SECONDS = 60.0
"""A job's first process starts at most so long after the job, unless this host's clock is ahead of Slurm's."""


def _job_seconds(started: float) -> float:
    """The seconds since this Slurm job `started`; of a host whose clock is wrong, since its first process did."""
    mark, ages = f"SLURM_JOB_ID={os.environ['SLURM_JOB_ID']}".encode(), [age_seconds()]
    for folder in Path("/proc").glob("[0-9]*"):
        # Other users' processes, and those that have ended.
        with suppress(OSError):
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                ages.append(age_seconds(folder.name))
    passed, oldest = time.time() - started, max(ages)
    return passed if 0 <= passed - oldest <= CLOCK_SECONDS else oldest


def clock_fault() -> str:
    """By how much this host's clock differs from Slurm's, in words; empty if by less than CLOCK_SECONDS."""
    started = _times(_job_facts()).get("StartTime", math.nan)
    ahead = round(time.time() - started - _job_seconds(started)) if started == started else 0
    if abs(ahead) <= CLOCK_SECONDS:
        return ""
    side = "ahead of" if ahead > 0 else "behind"
    return f"the clock of {socket.gethostname()} is about {abs(ahead)} s {side} Slurm's"


def _times(facts: Mapping[str, str]) -> dict[str, float]:
    """The times among Slurm's facts of a job, in seconds since 1970, as far as they are known."""
    found = {}
    for name in ("SubmitTime", "StartTime", "EndTime"):
        # In whole seconds of local time.
        with suppress(KeyError, ValueError):
            found[name] = datetime.fromisoformat(facts[name]).timestamp()
    return found


def _job_facts() -> dict[str, str]:
    """Slurm's facts of this job; empty outside Slurm. Raises CrossoverError if Slurm does not answer."""
    job = os.environ.get("SLURM_JOB_ID")
    return {} if job is None else dict(re.findall(r"\b(\w+)=(\S+)", _scontrol("job", job)))


@cache
def _scontrol(*what: str) -> str:
    """What Slurm says, once; a launch that began with an answer needs none at its end."""
    return programs.ask("scontrol", "--oneliner", "show", *what, refuses=True).stdout


def commit() -> str:
    """The project's git commit, with `+` if tracked files have changes; empty outside a checkout."""
    # Named, because git would take an enclosing repository, or that of the caller's variables.
    own = [f"--git-dir={PROJECT / '.git'}", f"--work-tree={PROJECT}"]
    others = (f"--unset={name}" for name in os.environ if name.startswith("GIT_"))
    # The hash even at a tag, because no tag matches.
    words = ["env", *others, "git", *own, "describe", "--always", "--match=", "--abbrev=12", "--dirty=+"]
    with suppress(OSError):
        return programs.run(words, folder=PROJECT).stdout.strip()
    return ""


def watch_peak_memory() -> Callable[[], int]:
    """Reset a counter; returns a function for the largest resident set since then, in bytes (0: reset not allowed).

    This is `VmHWM` of proc(5), after a 5 was written to `clear_refs`. It includes the interpreter and shared libraries.
    It is not exact, because the kernel adds up the processors' counts in batches.
    """
    try:
        PEAK_RESET.write_text("5", encoding="utf-8")
    except OSError:
        return lambda: 0
    return _peak_bytes


def _peak_bytes() -> int:
    found = re.search(r"^VmHWM:\s+(\d+) kB$", PEAK_STATUS.read_text(encoding="utf-8"), re.MULTILINE)
    return 1024 * int(found[1]) if found else 0


class Disturbance:
    """Detects disturbances on this host, as values of the column `validity`: `ok`, or the disturbance."""

    def __init__(self) -> None:
        self._quotas = _of_groups("cpu", "cpu.stat")
        self._seen = self._counters()

    def __call__(self) -> str:
        """The disturbance since the last call."""
        before, self._seen = self._seen, self._counters()
        changed = {name: self._seen[name] - before[name] for name in before}
        if changed["throttled"]:
            return "throttled"
        if changed["out of quota"]:
            return "processor quota"
        if changed["swapped"]:
            return "swapped"
        if changed["ticks"] and changed["steal"] / changed["ticks"] > STEAL_SHARE:
            return "steal time"
        return "ok"

    def _counters(self) -> dict[str, int]:
        ticks = [int(value) for value in (_text("/proc/stat") or "cpu 0").splitlines()[0].split()[1:9]]
        pages = re.findall(r"^pswp(?:in|out) (\d+)$", _text("/proc/vmstat") or "", re.MULTILINE)
        throttle = Path("/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count")
        return {
            "ticks": sum(ticks),
            "steal": ticks[7] if len(ticks) > 7 else 0,
            "swapped": sum(map(int, pages)),
            "throttled": int(_text(str(throttle)) or 0),
            # Periods in which this process, or others of its groups, had to wait for the next one.
            "out of quota": sum(
                int(periods)
                for file in self._quotas
                for periods in re.findall(r"^nr_throttled (\d+)$", _text(str(file)) or "", re.MULTILINE)
            ),
        }


def _of_groups(controller: str, name: str) -> list[Path]:
    """The files with this name of the control groups that can limit this process: its own, and those above."""
    # NUMBER:CONTROLLERS:PATH, without number and controllers in version 2, of cgroups(7).
    lines = re.findall(r"^\d+:([^:]*):(/.*)$", _text("/proc/self/cgroup") or "", re.MULTILINE)
    found = []
    for controllers, group in lines:
        if controllers and controller not in controllers.split(","):
            continue
        for mount in (CONTROL_GROUPS / folder for folder in ("", controllers, controller, "unified")):
            inner = mount / group.lstrip("/")
            # In a container, the path can be the host's; then only the mounted group is visible.
            found += [place / name for place in (inner, *inner.parents) if place.is_relative_to(mount)]
    return [file for file in dict.fromkeys(found) if file.is_file()]
