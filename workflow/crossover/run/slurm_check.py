"""Whether Slurm takes the jobs of a run, asked before any is submitted.

Slurm itself tells late: a job that no partition could ever hold waits in its queue for ever.
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
"""What a job may ask for by which jobs can differ in whether they are taken, and the option of sbatch for it."""

PATIENCE_SECONDS = 20


def check(arrays: str | None, jobs: Iterable[Mapping[str, Any]]) -> None:
    """Raise CrossoverError if `arrays`, the rules to submit as job arrays, is set, or if Slurm refuses any of `jobs`.

    A job is its resources, as Snakemake calls them.
    """
    if arrays:
        raise CrossoverError(
            f"slurm-array-jobs is set ({arrays}): in a job array every task would run the first launch; remove it from "
            "the profile and the command line, launches are submitted one by one"
        )
    if faults := [fault for kind in _kinds(jobs) if (fault := _refusal(kind))]:
        raise CrossoverError("\n".join(["Slurm would not run these jobs; nothing was submitted", *faults]))


def _kinds(jobs: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What jobs ask for, once for all that differ only in how long and how wide they are: then that of the largest."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for job in jobs:
        kind = found.setdefault(tuple(job.get(name) for name in OPTIONS), dict(job))
        for most in ("runtime", "tasks"):
            kind[most] = max(kind[most], job[most])
    return list(found.values())


def _refusal(job: Mapping[str, Any]) -> str:
    """Why Slurm would not run such a job, and the keys that this hangs on; empty if it would, or does not answer."""
    asked = [f"{option}={job[name]}" for name, option in OPTIONS.items() if job.get(name) is not None]
    asked += [f"--ntasks={job['tasks']}", f"--time={job['runtime']}", *shlex.split(job.get("slurm_extra") or "")]
    try:
        answer = subprocess.run(
            ["sbatch", "--test-only", *asked, "--wrap=true"],
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if answer.returncode == 0 or "ontroller" in answer.stderr:
        return ""
    said = answer.stderr.strip().splitlines() or ["it did not say why"]
    why = said[-1].removeprefix("allocation failure: ").removeprefix("sbatch: error: ")
    return f"  {' '.join(asked)}: {why}; {_advice(why, job)}"


def _advice(why: str, job: Mapping[str, Any]) -> str:
    """What to change so that such a job is taken: the key of a reason that is known, or else those that were set."""
    key, step = meaning(why)
    asked = [name.removeprefix("slurm_") for name in OPTIONS if name != "nodes" and job.get(name) is not None]
    keys = f"`{key}:`" if key else " or ".join(f"`{name}:`" for name in asked or ["partition"])
    alone = "; where a job has one node at most, `nodes: 1` there leaves launches across hosts out"
    return f"set {keys} in {SITE}: {step}{alone if job.get('nodes', 1) > 1 else ''}"
