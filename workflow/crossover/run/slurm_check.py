"""Checks that Slurm accepts the jobs of a run, before any is submitted.

Without this check, a job that no partition can hold would wait in the queue for ever.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any

from crossover.errors import CrossoverError
from crossover.run.slurm_errors import meaning

SITE = "profiles/slurm/site.yaml"

OPTIONS = {
    "slurm_partition": "--partition",
    "slurm_account": "--account",
    "qos": "--qos",
    "constraint": "--constraint",
    "nodes": "--nodes",
}
"""Resources that decide whether Slurm accepts a job, with the option of sbatch for each."""

PATIENCE_SECONDS = 20


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
    try:
        answer = subprocess.run(
            ["sbatch", "--test-only", *options, "--wrap=true"],
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
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
