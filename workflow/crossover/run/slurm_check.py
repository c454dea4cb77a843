"""Checks that Slurm accepts the jobs of a run, before any is submitted; the remedies for its errors.

Without this check, a job that no partition can hold would wait in the queue for ever.
"""

import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any

from crossover.errors import CrossoverError
from crossover.paths import SITE

OPTIONS = {
    "slurm_partition": "--partition",
    "slurm_account": "--account",
    "qos": "--qos",
    "constraint": "--constraint",
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
    (r"invalid feature|badconstraints", "constraint", "`sinfo --format='%P %f'` lists the features of nodes"),
    (
        r"node configuration is not available|node count specification invalid|nodelimit|maxnode|grpnode",
        "partition",
        "choose one that allows jobs of two nodes; `nodes: 1` there leaves out launches across hosts",
    ),
    (r"time limit is invalid|timelimit|maxwall", "partition", "choose one that allows longer jobs, or set `qos`"),
    (CUT_OFF, "", "wait longer, or set a `partition` or `qos` with a shorter queue"),
    (r"memory specification can not be satisfied", "partition", "choose one whose nodes have more memory"),
)
"""A pattern of Slurm's errors and reasons for waiting, the key to set, and the remedy."""

HOPELESS = (
    *("BadConstraints", "InvalidAccount", "InvalidQOS", "AccountNotAllowed", "QOSNotAllowed"),
    *("PartitionNodeLimit", "PartitionTimeLimit", "PartitionDown", "PartitionInactive", "JobHeldAdmin"),
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
    if faults := [fault for kind in _kinds(jobs) if (fault := _refusal(kind))]:
        raise CrossoverError("\n".join(["Slurm refuses these jobs; nothing was submitted", *faults]))


def _kinds(jobs: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The jobs' distinct kinds; of jobs that differ only in time and tasks, one with the largest of each."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for job in jobs:
        kind = found.setdefault(tuple(job.get(name) for name in OPTIONS), dict(job))
        for most in ("runtime", "tasks"):
            kind[most] = max(kind[most], job[most])
    return list(found.values())


def _refusal(job: Mapping[str, Any]) -> str:
    """Slurm's reason to refuse such a job, and the keys to set; empty if Slurm accepts it or does not answer."""
    options = [f"{option}={job[name]}" for name, option in OPTIONS.items() if job.get(name) is not None]
    options += [f"--ntasks={job['tasks']}", f"--time={job['runtime']}", *shlex.split(job.get("slurm_extra") or "")]
    command = ["sbatch", "--test-only", *options, "--wrap=true"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if answer.returncode == 0 or "ontroller" in answer.stderr:
        return ""
    messages = answer.stderr.strip().splitlines() or ["no reason given"]
    why = messages[-1].removeprefix("allocation failure: ").removeprefix("sbatch: error: ")
    return f"  {' '.join(options)}: {why}; {_advice(why, job)}"


def _advice(why: str, job: Mapping[str, Any]) -> str:
    """The remedy: for a known reason its key, otherwise the keys that are set."""
    key, step = meaning(why)
    present = [name.removeprefix("slurm_") for name in OPTIONS if name != "nodes" and job.get(name) is not None]
    keys = f"`{key}:`" if key else " or ".join(f"`{name}:`" for name in present or ["partition"])
    alone = "; if jobs cannot have two nodes, `nodes: 1` there leaves out launches across hosts"
    return f"set {keys} in {SITE}: {step}{alone if job.get('nodes', 1) > 1 else ''}"


def meaning(words: str) -> tuple[str, str]:
    """The key to set and the remedy for Slurm's `words`; the key is empty for unknown words."""
    for pattern, key, step in REFUSALS:
        if re.search(pattern, words, re.IGNORECASE):
            return key, step
    return "", "correct the cause, then repeat the command"
