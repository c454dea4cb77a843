"""Checks that Slurm accepts the jobs of a run, before any is submitted; the remedies for its errors.

Without this check, a job that no partition can hold would wait in the queue for ever.
"""

import re
import shlex
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any

from crossover import programs
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
        "choose one that allows jobs of more nodes; for nodes that are drained or down, set `wait_for_nodes: true`",
    ),
    (
        r"time limit is invalid|timelimit|maxwall",
        "partition",
        "choose one that allows longer jobs, or set `qos`, or a smaller `batch_minutes`",
    ),
    (CUT_OFF, "", "wait longer, or set a `partition` or `qos` with a shorter queue"),
    (r"jobhelduser", "", "let them start: `scontrol release JOB`, with each number of `squeue --me`"),
    (
        r"\bmem(ory)?\b",
        "partition",
        "choose one whose nodes have more memory; if your site refuses memory by node, `export SBATCH_MEM_PER_NODE=` "
        "requests none, and SBATCH_MEM_PER_CPU=2G is passed on",
    ),
    (
        r"more processors requested than permitted",
        "exclusive",
        "with `true`, a launch may have more ranks than a node has processors",
    ),
)
"""A pattern of Slurm's errors and reasons for waiting, the key to set, and the remedy."""

SITES_OWN = ("slurm_partition", "slurm_account", "qos", "constraint")
"""The resources that a site's keys set."""

UNAVAILABLE = "node configuration is not available"
"""Slurm's words for nodes that do not exist, and for those that are drained or down."""

HOPELESS = (
    *("BadConstraints", "InvalidAccount", "InvalidQOS", "AccountNotAllowed", "QOSNotAllowed"),
    *("PartitionNodeLimit", "PartitionTimeLimit", "PartitionDown", "PartitionInactive", "JobHeldAdmin", "JobHeldUser"),
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
    # Slurm accepts jobs for a partition that is down.
    for name in dict.fromkeys(job.get("slurm_partition") for job in jobs):
        if state := cluster.partition(name).stopped:
            raise CrossoverError(
                f"Slurm's partition {name or 'by default'} is {state}, so no job would start; nothing was submitted. "
                f"Wait until `sinfo --summarize` says that it is up, or set `partition:` in {SITE} to one that is"
            )
    answers = [(job, *_asked(job)) for job in jobs]
    if faults := [f"  {' '.join(options)}: {why}; {_step(why, job)}" for job, options, why in answers if why]:
        raise CrossoverError("\n".join(["Slurm refuses these jobs; nothing was submitted", *faults]))


def most_hosts(resources: Mapping[str, Any], wanted: int) -> tuple[int, str]:
    """The most hosts, at most `wanted`, that Slurm grants one job with these resources; why no more, and the remedy.

    It is `wanted` if Slurm refuses even one host, because then `check` says why.
    """

    def refusal(hosts: int) -> str:
        return _asked({**resources, "tasks": max(2, hosts), "runtime": 1, "nodes": hosts})[1]

    if not refusal(wanted) or refusal(1):
        return wanted, ""
    granted = bisect_left(range(1, wanted), True, key=lambda hosts: bool(refusal(hosts)))
    why = refusal(granted + 1)
    return granted, f"Slurm refuses jobs of {granted + 1} nodes ({why}); {_step(why, resources)}"


def _asked(job: Mapping[str, Any]) -> tuple[list[str], str]:
    """The options of sbatch for a job, and Slurm's reason to refuse it; empty if it accepts it.

    Without `sbatch` there is no reason. Raises CrossoverError if Slurm does not answer.
    """
    # Like Slurm's plugin, leave out a memory of 0.
    options = [f"{option}={job[name]}" for name, option in OPTIONS.items() if job.get(name) not in (None, 0)]
    options += [f"--ntasks={job['tasks']}", f"--time={job['runtime']}", *shlex.split(job.get("slurm_extra") or "")]
    answer = programs.ask("sbatch", "--test-only", *options, "--wrap=true", refuses=True)
    # Nodes that come back are worth a wait, if the site says so.
    if job.get("wait_for_nodes") and UNAVAILABLE in answer.stderr:
        nodes = cluster.partition(job.get("slurm_partition")).nodes
        if nodes is None or job["nodes"] <= nodes:
            return options, ""
    # A full queue is no fault of the job.
    if answer.returncode in (0, programs.ABSENT) or PASSES.search(answer.stderr):
        return options, ""
    lines = [line for line in answer.stderr.strip().splitlines() if not line.startswith("Try ")] or ["no reason given"]
    # A site's own words, such as those of its submission plugin, can be anywhere in them.
    words = (re.sub(r"^(allocation failure|sbatch: error): *", "", line).strip() for line in lines)
    return options, ": ".join(filter(None, words))


def _step(why: str, job: Mapping[str, Any]) -> str:
    """The remedy: for a known reason its key, otherwise the keys that are set."""
    key, step = meaning(why)
    present = [name.removeprefix("slurm_") for name in SITES_OWN if job.get(name) is not None]
    keys = f"`{key}:`" if key else " or ".join(f"`{name}:`" for name in present or ["partition"])
    return f"set {keys} in {SITE}: {step}"


def meaning(words: str) -> tuple[str, str]:
    """The key to set and the remedy for Slurm's `words`; the key is empty for unknown words."""
    for pattern, key, step in REFUSALS:
        if re.search(pattern, words, re.IGNORECASE):
            return key, step
    return "", "correct the cause, then repeat the command"
