"""Draws a finding from the facts of each check, and prints the findings with the key that fixes each failure."""

import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from crossover.doctor import facts
from crossover.doctor.facts import HOSTS, MEMORY, Job, Pair
from crossover.paths import SITE
from crossover.records import atomic
from crossover.slurm.acceptance import CUT_OFF, meaning

SPACE_BYTES = 256 << 20
"""The space that a launch may need for the files of its task farms, and for messages in shared memory."""
INDENT = 28
PLACES = {
    "slurm": f"in {SITE}",
    "local": "in profiles/local/config.yaml, under set-resources, for the rules launch and examine,",
}
"""The file in which a key of the site is set, by Snakemake's executor."""
ELSEWHERE = "in the site.yaml of your profile"


class Verdict(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    WARNING = "warning"
    """Launches run, but measurements may suffer or be incomplete."""
    PROBLEM = "problem"
    """Launches, or launches of one kind, do not run."""
    UNKNOWN = "unknown"
    """This cannot be checked here."""


OK, WARNING, PROBLEM, UNKNOWN = Verdict


@dataclass(frozen=True)
class Finding:
    """One check's result: the facts in words, and for a failure the site's key to set, its value, and the next step."""

    verdict: Verdict
    seen: str
    key: str = ""
    step: str = ""
    value: str = ""


NO_JOB = Finding(UNKNOWN, "no job ran; see the finding `executor`")
NO_PAIR = Finding(UNKNOWN, "no two ranks came up together; see the finding `launcher`")


@dataclass(frozen=True)
class Seen:
    """All facts of a run of the doctor."""

    executor: str
    """Snakemake's executor: `local`, `slurm`, or another."""
    node: Job | None = None
    nodes: Job | None = None
    """The jobs on one host and on two."""
    lost: Mapping[str, str] = field(default_factory=dict)
    """The reason for each job without facts, by placement."""
    too_few_nodes: str = ""
    """Why there was no job for two hosts, and the remedy, if Slurm grants one host only."""
    wider: str = ""
    """What needs more hosts than Slurm grants."""

    @property
    def examined(self) -> Job | None:
        """The job whose ranks started together, the one on two hosts first."""
        return next((job for job in (self.nodes, self.node) if job and job.pair), None)


# ---- the checks


def executor(seen: Seen) -> Finding:
    """A job for one host that did not run is a problem."""
    if seen.executor == "local" and seen.node:
        return Finding(OK, "launches run one after another on this host, with no queue")
    ran = []
    for name, job in (("one host", seen.node), ("two hosts", seen.nodes)):
        if job:
            queued = "" if job.queued_seconds is None else f" after {job.queued_seconds:.0f} s in the queue"
            ran.append(f"the job for {name} ran{queued}")
    if ran and "node" not in seen.lost:
        return Finding(OK, "; ".join(ran))
    words = seen.lost.get("node") or seen.lost.get("nodes") or "no job left any facts"
    return Finding(PROBLEM, "; ".join([*ran, f"the job for one host did not run: {words}"]), *meaning(words))


def launcher(seen: Seen) -> Finding:
    """Ranks that do not start in one world are a problem."""
    job = seen.node or seen.nodes
    return _started(job) if job else NO_JOB


def _started(job: Job) -> Finding:
    """Whether the site's launcher puts its ranks on the job's hosts; otherwise one that does is named."""
    first, *others = job.attempts
    hosts = HOSTS[job.placement]
    if first.on(hosts) and first.pair:
        return Finding(OK, f"{first} ({first.pair.library})")
    text = f"{first}, though the job has two hosts" if first.together else str(first)
    if works := next((each.mpi for each in others if each.on(hosts)), None):
        return Finding(PROBLEM, f"{text}; {works} worked", "mpi", value=works)
    step = "ask the site how to start MPI programs; mpi4py may need to be built for the site's MPI"
    return Finding(PROBLEM, "; ".join([text, *map(str, others)]), "mpi", step)


def two_hosts(seen: Seen) -> Finding:
    """A job for two hosts that does not run, or whose ranks share one, is a problem for placement `nodes` only."""
    if seen.executor == "local":
        return Finding(UNKNOWN, "this is one host; exchanges over a network need a cluster")
    if seen.too_few_nodes:
        cause, _, step = seen.too_few_nodes.partition("; ")
        return Finding(PROBLEM, f"there was no job for two hosts: {cause}", step=step)
    if words := seen.lost.get("nodes"):
        return Finding(PROBLEM, f"the job for two hosts did not run: {words}", *meaning(words)) if seen.node else NO_JOB
    if not seen.nodes:
        return Finding(UNKNOWN, "the site's key `nodes` allows one node at a time, so there was no job for two hosts")
    if seen.node and not seen.node.attempts[0].together:
        return Finding(UNKNOWN, "the launcher brings no ranks together; see the finding `launcher`")
    found = _started(seen.nodes)
    return replace(found, seen="; ".join(filter(None, [found.seen, seen.wider])))


def processors(seen: Seen, job: Job, pair: Pair) -> Finding:
    """Ranks that the launcher binds are a problem, because launches refuse them."""
    mpi, wanted = job.attempts[-1].mpi, job.processors
    usable, present = pair.processors
    text = f"a rank may use {usable} of its host's {present} logical processors"
    if usable < min(wanted, present):
        unbound = "--cpu-bind=none" if Path(shlex.split(mpi)[0]).name == "srun" else "--bind-to none"
        cause = f"{text}, but its job {wanted}, because {mpi} binds ranks"
        return Finding(PROBLEM, cause, "mpi", value=f"{mpi} {unbound}")
    return Finding(OK, text)


def ports(seen: Seen, job: Job, pair: Pair) -> Finding:
    """An interface to which the other host cannot connect is a problem; one that works is named."""
    if job is seen.node:
        return Finding(OK, "ranks on one host use the loopback; checking ports between hosts needs a second host")
    text = pair.no_interface
    if not text:
        name, address, error = pair.interfaces[0]
        if not error:
            return Finding(OK, f"the other host can connect to a free port of {address} ({name})")
        text = f"the other host cannot connect to {address} ({name}): {error}"
    if works := next((name for name, _, error in pair.interfaces if not error), ""):
        return Finding(PROBLEM, f"{text}; it can through {works}", "interface", value=works)
    failed = ", ".join(f"{name}: {error}" for name, _, error in pair.interfaces)
    step = "ask the site whether there is a firewall between its nodes"
    return Finding(PROBLEM, f"no free port of the host can be reached ({failed})", "interface", step)


def temporary_folder(seen: Seen, job: Job, pair: Pair) -> Finding:
    """A folder that cannot be written to is a problem; a shared or nearly full one is a warning."""
    own = "set the environment variable TMPDIR to a folder on the node's own disk, then repeat the command"
    memory = "ask the site for more space in /dev/shm of its nodes, because MPI needs it"
    for path, _, error in pair.folders:
        if error:
            step = memory if path == MEMORY else own
            return Finding(PROBLEM, f"{path} cannot be written to: {error}", step=step)
    least = {path: free for path, free, _ in sorted(pair.folders, key=lambda folder: -folder[1])}
    text = "; ".join(f"{path} has {free / (1 << 30):.1f} GiB free" for path, free in least.items())
    if pair.temporary_shared:
        return Finding(WARNING, f"{text}; both hosts see the same files in {pair.folders[0][0]}", step=own)
    for path, free in least.items():
        if free < SPACE_BYTES:
            step = memory if path == MEMORY else own
            return Finding(WARNING, f"{text}; {path} has too little free space", step=step)
    hosts = "checking whether hosts share it needs a second host" if job is seen.node else "each host has its own"
    return Finding(OK, f"{text}; {hosts}")


def shared_folder(seen: Seen, job: Job, pair: Pair) -> Finding:
    """A file that never appears on the other host is a problem."""
    if pair.unwritten:
        step = "free some space there, or name another folder with --config results=..."
        return Finding(PROBLEM, pair.unwritten, step=step)
    if pair.seen_seconds is None:
        step = "clone crossover into a folder that all nodes share, or name one with --config results=..."
        return Finding(PROBLEM, f"a file in {pair.results} was not seen by the other host within 10 s", step=step)
    if job is seen.node:
        return Finding(OK, f"{pair.results} can be written to; checking whether others see it needs a second host")
    return Finding(OK, f"the other host sees a new file in {pair.results} after {pair.seen_seconds:.3f} s")


def _between_ranks(check: Callable[[Seen, Job, Pair], Finding]) -> Callable[[Seen], Finding]:
    """The check of facts that two ranks gather together; the finding is unknown without them."""

    def judge(seen: Seen) -> Finding:
        job = seen.examined
        return check(seen, job, job.pair) if job and job.pair else NO_PAIR

    return judge


CHECKS: dict[str, Callable[[Seen], Finding]] = {
    "executor": executor,
    "launcher": launcher,
    "two hosts": two_hosts,
    "processors": _between_ranks(processors),
    "ports": _between_ranks(ports),
    "temporary folder": _between_ranks(temporary_folder),
    "shared folder": _between_ranks(shared_folder),
}
"""Every check, by its title, in the order of the report."""


# ---- the run of Snakemake


def asked(workflow: Any) -> bool:
    """Whether this run of Snakemake ends with the findings, because `doctor` is a target."""
    return "doctor" in workflow.dag_settings.targets


def conclude(
    executor: str,
    results: str | Path,
    placements: Sequence[str],
    logs: Sequence[str],
    too_few_nodes: str = "",
    wider: str = "",
) -> int:
    """Print the findings and write them to `doctor.txt` in the results. Returns the exit code, 1 for a problem.

    `placements` are those whose jobs were submitted, `logs` the logs of this run of Snakemake, with the reasons for
    lost jobs.
    """
    text = "\n".join(Path(log).read_text(encoding="utf-8", errors="replace") for log in logs if Path(log).is_file())
    seen = gather(Path(results) / "doctor", executor, placements, text)
    # With a job for two hosts, only launches over more are left out.
    seen = replace(seen, wider=wider) if "nodes" in placements else replace(seen, too_few_nodes=too_few_nodes)
    findings = {title: check(seen) for title, check in CHECKS.items()}
    with atomic.replacing(Path(results) / "doctor.txt") as part:
        part.write_text(table(findings, executor, 100), encoding="utf-8")
    print(table(findings, executor, shutil.get_terminal_size((100, 24)).columns), flush=True)
    return int(any(found.verdict is PROBLEM for found in findings.values()))


def gather(folder: Path, executor: str, placements: Sequence[str], log: str) -> Seen:
    """The facts in `folder`, and the reason for each job without facts."""
    jobs: dict[str, Job | None] = dict.fromkeys(HOSTS)
    # An earlier run may have left the facts of a job that this one did not have.
    jobs |= {place: facts.read(folder / f"{place}.json") for place in placements}
    lost = {place: last_words(log, place) for place in placements if not jobs[place]}
    if not any(jobs.values()):
        # Slurm's plugin says so of a job that was accepted and failed; one that cannot start Python leaves no facts.
        hint = f"; if compute nodes do not see {sys.prefix}, clone crossover into a folder that all nodes share"
        lost = {place: words + hint * ("SLURM-job" in words) for place, words in lost.items()}
    return Seen(executor, jobs["node"], jobs["nodes"], lost)


def last_words(log: str, placement: str) -> str:
    """The reason for a lost job, from the batch system, otherwise from Snakemake's `log`."""
    for block in re.split(r"^(?=Error in rule )", log, flags=re.MULTILINE)[1:]:
        if not re.search(rf"output: \S*/doctor/{placement}\.json", block):
            continue
        if refused := re.search(r"The error message was '(.+?)'\.\n", block, re.DOTALL):
            return "; ".join(line.removeprefix("sbatch: error: ") for line in refused[1].splitlines())
        found = re.findall(r"^    message: (.+?\.)", block, re.MULTILINE)[:1]
        named = re.search(r"^    log: (.+) \(check log file", block, re.MULTILINE)
        if named and (file := Path(named[1].split(", ")[-1])).is_file():
            lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
            found += [*[f"its last words: {line.strip()}" for line in lines if line.strip()][-1:], f"see {file}"]
        return "; ".join(found) or "see Snakemake's log"
    return CUT_OFF


# ---- the report


def table(findings: Mapping[str, Finding], executor: str, width: int) -> str:
    """The findings as text of `width` columns, and the number of each verdict."""
    lines = []
    # In a narrow terminal, one word a line would be left beside the titles.
    indent = INDENT if width >= 2 * INDENT else 4
    for title, found in findings.items():
        text = f"{found.verdict:9} {title:{max(indent - 11, 0)}} {found.seen}"
        value = f": {found.value}" if found.value else ""
        setting = f"{PLACES.get(executor, ELSEWHERE)} set `{found.key}{value}`" if found.key else ""
        advice = ": ".join(filter(None, [setting, found.step]))
        shown = [text, f"{'->':>{indent - 1}} {advice}"] if advice else [text]
        for each in shown:
            lines += textwrap.wrap(each, max(width, 20), subsequent_indent=" " * indent, break_on_hyphens=False)
    verdicts = [found.verdict for found in findings.values()]
    counted = ", ".join(f"{verdicts.count(each)} {each}" for each in Verdict if each in verdicts)
    end = "follow the advice above, then repeat the command" if PROBLEM in verdicts else "launches can run here"
    return "\n".join([*lines, "", f"{counted}; {end}", ""])
