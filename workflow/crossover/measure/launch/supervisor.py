"""The supervisor of one launch: starts the ranks, limits their time, and writes a raw file, then its receipt.

It runs outside MPI. So if ranks crash, hang or start on the wrong host, the raw file is a hole, and the rest of the
workflow goes on. It writes nothing if it is interrupted, if the disk is full, or if a hole would replace the receipt of
a measurement.
"""

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from crossover.design.config import OfUser
from crossover.design.launch import Launch
from crossover.design.settings import Settings, canonical
from crossover.errors import CrossoverError, printable
from crossover.measure.launch import mpi_launcher
from crossover.measure.launch.host_lock import VARIABLE, alone, private_folder
from crossover.measure.native import loader
from crossover.measure.ranks import network, provenance, variables
from crossover.measure.ranks.ending import adopt_orphans, end_descendants
from crossover.measure.ranks.log import LOST, Relay, ended_by_slurm, from_outside
from crossover.paths import SITE
from crossover.planning import receipt
from crossover.planning.receipt import Files
from crossover.records import atomic, holes, record
from crossover.records.holes import HoleKind, Refusal

ALLOCATORS: Mapping[str, Mapping[str, str]] = {
    "": {},
    "fresh": {"MALLOC_MMAP_THRESHOLD_": str(128 * 1024)},
    "kept": {
        "MALLOC_MMAP_THRESHOLD_": str(32 * 1024 * 1024),
        "MALLOC_TRIM_THRESHOLD_": str(1024 * 1024 * 1024),
        "MALLOC_TOP_PAD_": str(64 * 1024 * 1024),
    },
}
"""The variables of glibc for each state of memory. `fresh` fixes the threshold with which every program begins; by
default each free of a larger block raises it, so that results would differ with the order of the cells."""

KEPT_SECONDS = 15
"""Of the time that its job has left, for a launch's end."""

INTERRUPTIONS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass(frozen=True)
class Job:
    """One launch to run; `mpi` is the MPI launcher, such as `mpiexec` or `srun --mpi=pmi2`."""

    launch: Launch
    file: Path
    """The file that describes the launch, for its ranks."""
    mpi: str
    code: str
    """A hash of the measuring code, to be recorded."""
    libraries: tuple[Path, ...] = ()
    """The libraries built for it."""
    interface: str = network.AUTO
    """The network interface between its hosts, if it has several."""

    @property
    def settings(self) -> Settings:
        return self.launch.settings


def supervise(job: Job, output: Files, log: Path, echo: bool = True) -> int:
    """Run `job`, add its raw file, and write its receipt; with `echo`, the log is printed too.

    Returns 0 for a receipt (measured or hole). Returns 1 if it is interrupted, if the disk is full, or if an earlier
    measurement stays because this one failed.
    """
    adopt_orphans()
    for number in INTERRUPTIONS:
        signal.signal(number, _interrupt)
    parent = os.getppid()

    def check() -> None:
        if os.getppid() != parent:
            raise CrossoverError("the workflow has ended")

    log.parent.mkdir(parents=True, exist_ok=True)
    output.raw_folder.mkdir(parents=True, exist_ok=True)
    with atomic.fresh(log) as lines:
        with suppress(OSError):
            lines.write(f"{receipt.first_line()}\n".encode())
        say = Relay(lines, echo)
        try:
            found = _result(job, output, say, check)
            if found is not None:
                _store(job, output, found, say)
        except CrossoverError as reason:
            text = f"{job.launch}: {reason}; launch discarded; to repeat it, repeat the command"
            say(text)
            if not echo:
                # A full disk has no space for the log.
                print(text, file=sys.stderr, flush=True)
            return 1
        finally:
            end_descendants()
    return 0


def _result(job: Job, output: Files, say: Relay, check: Callable[[], None]) -> pa.Table | Refusal | None:
    """The rows that the ranks measured, or the reason for a hole; None if an earlier job has done this launch."""
    try:
        with private_folder() as private, alone(say, check):
            if done := _written_in_this_run(job, output):
                say(f"{job.launch}: already measured by an earlier job of this run")
                receipt.write(output, *done)
                return None
            return _attempt(job, output, private, say, check)
    except OSError as error:
        if fault := holes.fault_behind(error):
            return fault
        raise


def _attempt(job: Job, output: Files, private: Path, say: Relay, check: Callable[[], None]) -> pa.Table | Refusal:
    """The rows that the ranks measured, or the reason for a hole."""
    # A user's function may change the folder of its rank.
    folder = output.raw_folder.absolute()
    atomic.clear_stale_parts(folder)
    atomic.require_space(folder)
    # Beside the raw file, because rank 0 may be on another host.
    part, refusal = (atomic.hidden(folder / output.path.name, purpose) for purpose in ("", ".refusal"))
    limit, left = job.settings.limit_seconds, provenance.seconds_left() - KEPT_SECONDS
    if left < job.settings.expected_seconds:
        raise CrossoverError(
            f"its job has only {max(0.0, left):.0f} s left, too little for this launch; it needs a job again"
        )
    if (granted := provenance.granted_processors()) < job.settings.ranks:
        return Refusal(
            HoleKind.WRONG_SETUP,
            f"Slurm granted its job {granted} logical processor(s) for {job.settings.ranks} ranks, which would "
            f"share them; set `exclusive: true` in {SITE}, or remove --overcommit from `sbatch_options`",
        )
    try:
        around = environment(job.launch, private, job.libraries, job.interface)
        ranks, hosts = job.settings.ranks, job.settings.nodes
        # Rank 0 has more to do than the others, so where hosts are compared, each launch has it on another one.
        turn = job.launch.number % hosts if job.settings.pairs_of_hosts else 0
        # A distribution in the key `mpi` is the user's.
        ordered = hosts > 1 and (hosts < ranks or turn) and "distribution" not in job.mpi
        if ordered and len(names := provenance.job_hosts()) == hosts:
            around |= mpi_launcher.in_turn([*names[turn:], *names[:turn]], ranks, private)
        code = mpi_launcher.run(_command(job, part, refusal), around, say, min(limit, left), check, say.close)
        if code == 0 and part.exists():
            return record.read(part, record.MEASUREMENTS)
        found = _reason(refusal)
        if found and found.kind not in (HoleKind.EXCEPTION, HoleKind.DISTURBED):
            return found
        # A failure on a full disk is not the experiment's fault, and a hole would not be remeasured by itself.
        atomic.require_space(folder)
        return _failure(job, code, min(limit, left), found, say)
    except Refusal as error:
        return error
    except (FileNotFoundError, PermissionError) as error:
        reason = f"cannot start the MPI launcher {error.filename!r} ({error.strerror}); {network.launcher()}"
        return Refusal(HoleKind.WRONG_SETUP, reason)
    finally:
        part.unlink(missing_ok=True)
        refusal.unlink(missing_ok=True)


def _failure(job: Job, code: int | None, limit_seconds: float, exception: Refusal | None, say: Relay) -> Refusal:
    """The reason for the failure of ranks that ended with `code` (None: at the time limit): its first cause.

    `exception` is that of a rank. It is a consequence if another rank was killed, or if a farm has lost its server.
    """
    # A copy, because a rank that outlives the launcher may still write.
    lines = list(say.lines)
    # The job must fail, so that it is repeated elsewhere: it has lost a node, or Slurm ends it.
    if slurms := ended_by_slurm(lines):
        raise CrossoverError(f"Slurm ended its ranks ({slurms})")
    cause, lost = say.first_end(), any(LOST in line for line in lines)
    if from_outside(cause):
        limit = os.environ.get("SLURM_MEM_PER_NODE", "")
        has = f"; its job has {int(limit) / 1000:.3g} GB on each node" if limit.isdecimal() else ""
        why = "" if "Memory" in cause else ", as when memory runs out"
        return Refusal(HoleKind.CRASHED, f"{cause}{why}{has}")
    if exception and exception.kind == HoleKind.DISTURBED:
        return exception
    if fault := holes.fault_of_host([cause, *lines]):
        return fault
    if exception and not lost:
        return exception
    if code is None:
        remedy = f"if it was slow, raise `budget_seconds` of {job.launch.experiment} in config/config.yaml"
        if isinstance(job.settings, OfUser):
            remedy = "if it was slow, give it more time: crossover try --minutes"
        if limit_seconds < job.settings.limit_seconds:
            remedy = f"its job requested no more time; if it was slow, raise `time_factor` in {SITE}"
        error = f"; {say.last_words()}" if say.error() else ""
        return Refusal(HoleKind.CRASHED, f"not finished after {limit_seconds:.0f} s; {remedy}{error}")
    if cause and not lost:
        return Refusal(HoleKind.CRASHED, cause)
    return Refusal(HoleKind.CRASHED, f"the ranks ended with code {code}; {say.last_words()}")


def _reason(refusal: Path) -> Refusal | None:
    """The reason that a rank has kept; None if there is none, or if the disk had no space for it."""
    text = refusal.read_text(encoding="utf-8") if refusal.exists() else ""
    return Refusal(*json.loads(text)) if text else None


def starting(launch: Launch, mpi: str = "mpiexec") -> list[str]:
    """The command line that starts a launch's ranks, up to the module or the file that each runs."""
    level = launch.settings.mpi_thread_level
    # mpi4py's own options apply before MPI is initialised.
    options = ["-rc", f"thread_level={level}"] if level else []
    started = mpi_launcher.starting(mpi, launch.settings.ranks, launch.settings.nodes)
    return [*started, sys.executable, "-m", "mpi4py", *options]


def environment(launch: Launch, private: Path, libraries: Sequence[Path], interface: str) -> dict[str, str]:
    """The environment of a launch's ranks. Raises Refusal (WRONG_SETUP)."""
    recorded = {variables.RECORDED: variables.recorded()}
    # A warning that is raised in a finalizer lets ranks wait for ever.
    own = {VARIABLE: str(private), "PYTHONWARNINGS": ""} | recorded | loader.variables(libraries)
    if launch.settings.nodes == 1:
        # Set for MPI, which starts before our code. On several hosts, Slurm would create the folder and leave it there.
        own["TMPDIR"] = str(private)
    own |= ALLOCATORS[launch.settings.memory]
    everything = mpi_launcher.surroundings(launch.placement, interface) | own
    return variables.with_threads(everything, launch.settings.threads_of_libraries)


def _command(job: Job, part: Path, refusal: Path) -> list[str]:
    return [
        *starting(job.launch, job.mpi),
        *("-m", "crossover", "rank"),
        *(str(job.file), "--interface", job.interface),
        *("--processors", str(mpi_launcher.processors(job.mpi))),
        *("--part", str(part), "--refusal", str(refusal)),
    ]


def _store(job: Job, output: Files, found: pa.Table | Refusal, say: Relay) -> None:
    wall_seconds = provenance.age_seconds()
    began = time.time() - wall_seconds
    facts: dict[str, Any] = {
        **job.launch.identity,
        "settings": canonical(job.settings.stored),
        "code": job.code,
        "commit": provenance.commit(),
        "wall_seconds": wall_seconds,
        "ranks": job.settings.ranks,
        "run": os.environ.get(receipt.RUN),
    } | provenance.slurm_job(wall_seconds)
    raw, ranks = output.next_raw(), []
    if isinstance(found, Refusal):
        if receipt.read(output.path).measured:
            # Only another measured launch may take its place.
            raise CrossoverError(f"not remeasured ({found.kind}): {found}; the earlier measurement stays")
        launch = facts | {
            "outcome": "hole",
            "hole": found.kind,
            # The last words of a program can hold anything.
            "reason": printable(str(found)),
            "host": socket.gethostname(),
            "started_utc": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "timed_seconds": 0.0,
        }
        record.write(record.MEASUREMENTS.empty_table(), raw, {"launch": launch, "ranks": []})
    else:
        stored = record.metadata(found)
        ranks = stored["ranks"]
        started = datetime.fromisoformat(stored["launch"]["started_utc"]).timestamp()
        # The ranks' clock may have jumped since.
        meeting_seconds = min(max(0.0, started - began), wall_seconds)
        launch = stored["launch"] | facts | {"outcome": "measured", "meeting_seconds": meeting_seconds}
        launch["notes"] = "; ".join(filter(None, (launch.get("notes"), provenance.clock_fault())))
        record.write(found, raw, {"launch": launch, "ranks": ranks})
    receipt.write(output, raw, launch, ranks)
    # Another host may have lost its power while it wrote the same launch.
    for name in (output.path.stem, f"launch={output.path.stem}"):
        atomic.clear_parts(raw.parent / name)
    _say_end(job, output, launch, say)


def _say_end(job: Job, output: Files, launch: dict[str, Any], say: Relay) -> None:
    if launch["outcome"] == "measured":
        share = launch["timed_seconds"] / launch["wall_seconds"]
        say(f"{job.launch}: done in {launch['wall_seconds']:.0f} s, {share:.0%} of it inside timed blocks")
        return
    kind = launch["hole"]
    say(f"{job.launch}: not measured ({kind}): {launch['reason']}")
    say(f"{job.launch}: the rest goes on; {holes.retry(kind, [str(output.path)])}")


def _written_in_this_run(job: Job, output: Files) -> tuple[Path, dict[str, Any], list[dict[str, Any]]] | None:
    """The raw file of this launch, its facts and ranks, if a job that this run repeats has written it; otherwise None.

    Such a job was killed before it wrote the receipt, or Snakemake has deleted the receipt with those of its group.
    """
    for raw in output.raw_files():
        with suppress(record.RecordError):
            stored = record.metadata(record.read(raw, record.MEASUREMENTS))
            launch = stored["launch"]
            own = receipt.is_this(launch.get("run")) and launch["code"] == job.code
            if own and not receipt.contradiction(output, launch):
                return raw, launch, stored["ranks"]
    return None


def _interrupt(number: int, _: object) -> None:
    # Only the first signal counts: a second must not interrupt the clean-up.
    for other in INTERRUPTIONS:
        signal.signal(other, signal.SIG_IGN)
    raise CrossoverError(f"interrupted by {signal.Signals(number).name}")
