"""Checks that Slurm accepts the jobs of a run, before any is submitted; the remedies for its errors.

Without this check, a job that no partition can hold would wait in the queue for ever.
"""

import re
import shlex
import subprocess
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from crossover.errors import CrossoverError
from crossover.paths import SITE
from crossover.slurm import cluster
from crossover.slurm.submission import PASSES

OPTIONS = {
    "slurm_partition": "--partition",
    "slurm_account": "--account",
    "qos": "--qos",
    "constraint": "--constraint",
    "mem_mb": "--mem",
    "nodes": "--nodes",
}
"""Resources that decide whether Slurm accepts a job, with the option of sbatch for each."""

CUT_OFF = "this run ended before the job did"
"""The reason if a job of the doctor was still waiting when the run ended."""

REFUSALS: tuple[tuple[str, str, str], ...] = (
    (r"invalid partition|partition(inactive|down)", "partition", "choose one that `sinfo --summarize` lists as up"),
    (r"invalid ?account|accountnotallowed", "account", "`sacctmgr show associations user=$USER` lists yours"),
    (
        r"invalid ?qos|qosnotallowed|qos.*not permitted",
        "qos",
        "`sacctmgr show associations user=$USER format=qos` lists yours",
    ),
    (r"invalid node name", "node_list", "`sinfo --Node` lists the names of nodes"),
    (r"invalid feature|badconstraints", "constraint", "`sinfo --format='%P %f'` lists the features of nodes"),
    (
        r"node configuration is not available|node count specification invalid|nodelimit|maxnode|grpnode",
        "partition",
        "choose one that allows jobs of as many nodes",
    ),
    (r"time limit is invalid|timelimit|maxwall", "partition", "choose one that allows longer jobs, or set `qos`"),
    (CUT_OFF, "", "wait longer, or set a `partition` or `qos` with a shorter queue"),
    (r"jobhelduser", "", "let them start: `scontrol release JOB`, with each number of `squeue --me`"),
    (r"memory specification can not be satisfied", "partition", "choose one whose nodes have more memory"),
)
"""A pattern of Slurm's errors and reasons for waiting, the key to set, and the remedy."""

SITES_OWN = ("slurm_partition", "slurm_account", "qos", "constraint")
"""The resources that a site's keys set."""

SHORTAGES = (
    ("too few nodes", f"set `partition:` in {SITE}: choose one that allows jobs of as many nodes"),
    ("too few processors", "add `--overcommit` to `slurm_extra` in your profile: several ranks then share a processor"),
    ("too little memory", f"set `partition:` in {SITE}: choose one whose nodes have more memory, or lower `mem_mb`"),
)
"""What a partition can have too little of, each with the remedy."""

LIMITS_MINUTES = (24 * 60, 12 * 60, 8 * 60, 6 * 60, 4 * 60, 2 * 60, 60, 45, 30, 20, 15, 10, 5)
"""The limits of a job's time that are tried in turn where Slurm does not grant the wanted one."""

WAIT = f"repeat the command when they are; to let jobs wait for them, set `wait_for_nodes: true` in {SITE}"
MOST_NAMED = 6
"""The most nodes that are named."""

HOPELESS = (
    *("BadConstraints", "InvalidAccount", "InvalidQOS", "AccountNotAllowed", "QOSNotAllowed"),
    *("PartitionNodeLimit", "PartitionTimeLimit", "PartitionDown", "PartitionInactive", "JobHeldAdmin", "JobHeldUser"),
    *("AssocMaxNodePerJobLimit", "QOSMaxNodePerJobLimit", "QOSMinNode"),
    *("AssocMaxWallDurationPerJobLimit", "QOSMaxWallDurationPerJobLimit"),
)
"""Slurm's reasons for waiting that never end by themselves."""


def check(arrays: str | None, jobs: Iterable[Mapping[str, Any]]) -> None:
    """Raise CrossoverError if `arrays` (rules to submit as job arrays) is set, or if Slurm refuses any of `jobs`.

    Each job is given by its Snakemake resources.
    """
    if arrays:
        raise CrossoverError(
            f"slurm-array-jobs is set ({arrays}), but in a job array every task would run the first launch; remove it "
            "from the profile and the command line"
        )
    jobs = list(jobs)
    for name in dict.fromkeys(job.get("slurm_partition") for job in jobs):
        if state := cluster.partition_state(name):
            raise CrossoverError(
                f"Slurm's partition {name or 'by default'} is {state}, so no job would start; nothing was submitted. "
                f"Wait until `sinfo --summarize` says that it is up, or set `partition:` in {SITE} to one that is"
            )
    if faults := [fault for kind in _kinds(jobs) if (fault := _refusal(kind))]:
        raise CrossoverError("\n".join(["Slurm refuses these jobs; nothing was submitted", *faults]))


def _kinds(jobs: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The jobs' distinct kinds; of jobs that differ only in time and tasks, one with the largest of each."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for job in jobs:
        kind = found.setdefault(tuple(job.get(name) for name in (*OPTIONS, "slurm_extra")), dict(job))
        for most in ("runtime", "tasks"):
            kind[most] = max(kind[most], job[most])
    return list(found.values())


def most_hosts(resources: Mapping[str, Any], wanted: int) -> tuple[int, str]:
    """The most hosts, at most `wanted`, that Slurm grants one job with these resources; why no more, and the remedy.

    It is `wanted` if Slurm does not answer, and if it refuses even one host, because then `check` says why.
    """

    def why(hosts: int) -> str:
        return _asked({**resources, "nodes": hosts, "tasks": max(2, hosts), "runtime": 1})[1]

    reason = why(wanted)
    if not reason or why(1):
        return wanted, ""
    granted, refused = 1, wanted
    while refused - granted > 1:
        hosts = (granted + refused) // 2
        granted, refused = (granted, hosts) if why(hosts) else (hosts, refused)
    if lacking := _lacking({**resources, "nodes": refused}):
        return granted, f"{lacking}; {WAIT}"
    return granted, (
        f"too few nodes: Slurm refuses jobs of {refused} nodes ({reason}); set `partition:` in {SITE} to one that "
        "allows them"
    )


def most_minutes(resources: Mapping[str, Any], wanted: float) -> float:
    """The most minutes, of `wanted` and of LIMITS_MINUTES, that Slurm grants one job.

    `wanted` if Slurm does not answer, and if it refuses even the least, because then `check` says why.
    """

    def grants(minutes: float) -> bool:
        return not _asked({**resources, "nodes": 1, "tasks": 2, "runtime": minutes})[1]

    if grants(wanted):
        return wanted
    return next((minutes for minutes in LIMITS_MINUTES if minutes < wanted and grants(minutes)), wanted)


def most_ranks(resources: Mapping[str, Any], widths: Collection[int]) -> int:
    """The largest of these numbers of ranks for which every rank on a host has a processor; 0 if none is so small.

    It is the largest of all if Slurm does not answer, or refuses even one rank, because then `check` says why.
    """
    extra = (resources.get("slurm_extra") or "").replace("--overcommit", "")

    def fits(ranks: int) -> bool:
        return not _asked({**resources, "slurm_extra": extra, "nodes": 1, "tasks": ranks, "runtime": 1})[1]

    rising = sorted(widths)
    if not rising or fits(rising[-1]) or not fits(1):
        return max(rising, default=0)
    found = bisect_left(rising, True, key=lambda ranks: not fits(ranks))
    return rising[found - 1] if found else 0


def _refusal(job: Mapping[str, Any]) -> str:
    """Slurm's reason to refuse such a job, and the keys to set; empty if Slurm accepts it or does not answer."""
    options, why = _asked(job)
    if why and (lacking := _lacking(job)):
        return f"  {' '.join(options)}: {why}: {lacking}; {WAIT}"
    return f"  {' '.join(options)}: {_advice(why, job)}" if why else ""


def _lacking(job: Mapping[str, Any]) -> str:
    """The nodes of its partition that are not up, in words, if a job lacks nothing else; otherwise empty."""
    up, down = cluster.nodes_down(job.get("slurm_partition"))
    if not up < job.get("nodes", 1) <= up + len(down):
        return ""
    named = ", ".join(f"{node} {state}" for node, state in sorted(down.items())[:MOST_NAMED])
    more = ", ..." if len(down) > MOST_NAMED else ""
    return f"{len(down)} of {up + len(down)} nodes of the partition are not up ({named}{more})"


def _asked(job: Mapping[str, Any]) -> tuple[list[str], str]:
    """The options of sbatch for a job, and Slurm's reason to refuse it; empty if it accepts it or does not answer."""
    # Like Slurm's plugin, leave out a memory of 0.
    options = [f"{option}={job[name]}" for name, option in OPTIONS.items() if job.get(name) not in (None, 0)]
    options += [f"--ntasks={job['tasks']}", f"--time={job['runtime']}", *shlex.split(job.get("slurm_extra") or "")]
    command = ["sbatch", "--test-only", *options, "--wrap=true"]
    try:
        answer = subprocess.run(command, capture_output=True, timeout=20, encoding="utf-8", errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return options, ""
    # Nodes that come back are worth a wait, if the site says so.
    if answer.returncode and job.get("wait_for_nodes") and _lacking(job):
        return options, ""
    # A full queue or a busy controller is no fault of the job.
    if answer.returncode == 0 or PASSES.search(answer.stderr):
        return options, ""
    lines = [line for line in answer.stderr.strip().splitlines() if not line.startswith("Try ")] or ["no reason given"]
    words = [line.removeprefix("allocation failure: ").removeprefix("sbatch: error: ") for line in lines]
    # The name of a limit comes first.
    named = words[:-1] if re.fullmatch(r"\w+Limit", words[0]) else []
    return options, ": ".join([*named, words[-1]])


def _advice(why: str, job: Mapping[str, Any]) -> str:
    """The reason and the remedy: for a known reason its key, otherwise the keys that are set."""
    key, step = meaning(why)
    if key in ("partition", "") and (shortage := _shortage(job)):
        return f"{why} ({shortage[0]}); {shortage[1]}"
    present = [name.removeprefix("slurm_") for name in SITES_OWN if job.get(name) is not None]
    keys = f"`{key}:`" if key else " or ".join(f"`{name}:`" for name in present or ["partition"])
    return f"{why}; set {keys} in {SITE}: {step}"


def _shortage(job: Mapping[str, Any]) -> tuple[str, str] | None:
    """What the partition has too little of, and the remedy; None if Slurm refuses the job for another reason.

    Slurm has the same words for too few nodes, processors or memory, so each is asked for without the excess.
    """
    smaller: tuple[dict[str, Any], ...] = (
        {"nodes": 1},
        {"slurm_extra": f"{job.get('slurm_extra') or ''} --overcommit"},
        {"mem_mb": None},
    )
    for less, words in zip(smaller, SHORTAGES, strict=True):
        if any(job.get(name) not in (value, None) for name, value in less.items()) and not _asked({**job, **less})[1]:
            return words
    return None


def meaning(words: str) -> tuple[str, str]:
    """The key to set and the remedy for Slurm's `words`; the key is empty for unknown words."""
    for pattern, key, step in REFUSALS:
        if re.search(pattern, words, re.IGNORECASE):
            return key, step
    return "", "correct the cause, then repeat the command"
