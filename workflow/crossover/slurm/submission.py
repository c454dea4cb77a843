"""What the jobs of a run ask of Slurm when they are submitted, and its words when it refuses one."""

import atexit
import importlib
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from crossover.errors import CrossoverError
from crossover.paths import SITE

EXCLUSIVE = ("--exclusive", "--overcommit")
"""Two launches side by side would measure each other. Such a job has all processors of its nodes, and may have more
ranks. Without --exclusive, --overcommit would make Slurm grant one processor for all ranks."""

NOT_A_JOB = {
    r"(?<!\S)(--array|-a)\b": "makes a job array, in which every task would run the first launch; remove it",
    r"(?<!\S)--(test-only|wrap)\b": "makes a job that runs no launch; remove it",
    r"(?<!\S)(--wait|-W)\b": "submits jobs one after another; remove it",
}
"""Options with which jobs would not run as planned, with the reason."""

INSTEAD = (
    "use one of the keys `account`, `partition`, `constraint`, `qos`, or export SBATCH_GRES=... or "
    "SBATCH_MEM_PER_NODE=... before the run; for GPUs, write --gpus-per-node=1"
)

BIN = Path(__file__).with_name("bin")
PASSES = re.compile("|".join((BIN / "passes").read_text(encoding="utf-8").splitlines()), re.IGNORECASE)
"""Slurm's words for a full queue, or a controller that does not answer: the same job can be accepted later."""
REFUSALS, JOBS = "CROSSOVER_REFUSALS", "CROSSOVER_JOBS"
"""The environment variables with the paths of the files of refusals, and of the numbers of accepted jobs."""

OF_ANSWERS = ("SQUEUE_", "SINFO_", "SACCT_", "SSTAT_", "SCANCEL_", "SRUN_DEBUG", "SBATCH_DEBUG")
"""The starts of variables that change what Slurm says or cancels, and no job; a shell of srun has SRUN_DEBUG."""

BY_KEY = {f"SBATCH_{key.upper()}": key for key in ("account", "constraint", "partition", "qos")}
"""The variables that stand in for a key of a site: with a key, the plugin passes an option, which wins over them."""

OF_JOBS = ("SBATCH_", "SRUN_")
"""The starts of variables that change jobs, or the ranks in them (the manuals of sbatch and srun)."""

CARRIED = (
    *("ACCOUNT", "CONSTRAINT", "GPUS_PER_NODE", "GRES", "HINT", "LICENSES", "MEM_PER_CPU", "MEM_PER_NODE"),
    *("NETWORK", "PARTITION", "PREFER", "PROFILE", "QOS", "RESERVATION", "REQ_SWITCH", "WAIT4SWITCH", "WCKEY"),
)
"""The variables SBATCH_... that are passed on: where jobs run, what else they request. A launch's options win."""

CONFIGURATION = "SLURM_CONF"

WAITS, REFUSED = "waits", "refused"
"""The first column of that file: whether the job is submitted again until Slurm accepts it, or given up."""


def facts_of_variables() -> dict[str, str]:
    """The keys of a site that its user's variables SBATCH_... set."""
    return {key: os.environ[name] for name, key in BY_KEY.items() if os.environ.get(name)}


def extra_options(facts: Mapping[str, Any]) -> str:
    """The options of `sbatch` that jobs of launches have, from the keys `exclusive` and `sbatch_options` of a site.

    >>> extra_options({}), extra_options({"exclusive": False, "sbatch_options": "--reservation=tests"})
    ('--exclusive --overcommit', '--reservation=tests')
    """
    exclusive = EXCLUSIVE if facts.get("exclusive", True) else ()
    # Slurm's plugin passes them through a shell, which must see the same words as `acceptance`.
    return shlex.join([*exclusive, *shlex.split(facts.get("sbatch_options", ""))])


def check_options(text: str) -> str:
    """These `sbatch_options`. Raises ValueError, with the next step, for one that cannot be used.

    >>> check_options("--partition=short")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: --partition sets the partition, which each launch sets itself; use one of the keys `account`, ...
    """
    # Imported here, because the plugin needs a second.
    plugin = importlib.import_module("snakemake_executor_plugin_slurm.validation")
    reserved = {
        pattern: f"sets the {name}, which each launch sets itself; {INSTEAD}"
        for pattern, name in plugin.get_forbidden_slurm_options().items()
    }
    words = shlex.join(shlex.split(text))
    for pattern, why in {**NOT_A_JOB, **reserved}.items():
        if match := re.search(pattern, words):
            raise ValueError(f"{match[0].strip(' =')} {why}")
    return text


def request_whole_memory() -> None:
    """Make `sbatch` request the whole memory of each node for jobs that request none, instead of Slurm's default.

    The plugin takes `mem_mb: 0` for no request, and refuses `--mem` among a job's own options. A user's variable wins;
    if it is empty, no memory is requested, for sites that refuse it by node.
    """
    if "SBATCH_MEM_PER_CPU" not in os.environ:
        os.environ.setdefault("SBATCH_MEM_PER_NODE", "0")
    if not os.environ.get("SBATCH_MEM_PER_NODE", "0"):
        del os.environ["SBATCH_MEM_PER_NODE"]


def settle_environment() -> None:
    """Forget variables that only change Slurm's answers, for this process and its children.

    Raises CrossoverError for one that would change the jobs.
    """
    for name in [name for name in os.environ if name.startswith(OF_ANSWERS)]:
        del os.environ[name]
    if CONFIGURATION in os.environ:
        os.environ[f"CROSSOVER_{CONFIGURATION}"] = os.environ[CONFIGURATION]
    carried = {f"SBATCH_{name}" for name in CARRIED}
    if wrong := sorted(name for name in os.environ if name.startswith(OF_JOBS) and name not in carried):
        raise CrossoverError(
            f"{', '.join(wrong)} would change the jobs of a run, or the ranks in them; unset {wrong[0]}, or if your "
            f"site needs it, set `sbatch_options:` or `mpi:` in {SITE}, such as `mpi: env NAME=value srun --mpi=pmi2`"
        )


def restore_configuration() -> None:
    """Set the path of Slurm's configuration again: inside a job, Snakemake's plugin deletes all variables of Slurm."""
    if f"CROSSOVER_{CONFIGURATION}" in os.environ:
        os.environ[CONFIGURATION] = os.environ[f"CROSSOVER_{CONFIGURATION}"]


def stand_in(prefix: str) -> None:
    """Put the programs of `bin` before Slurm's, for this process and its children.

    They keep refusals, and the numbers of accepted jobs, because Snakemake drops both for groups. Their files are in a
    temporary folder, with this `prefix` of its name, because a full disk of results would hide the end of a job.
    Without that folder they ask Slurm.
    """
    folder = tempfile.mkdtemp(prefix=prefix)
    atexit.register(_remove, folder, os.getpid())
    for variable, name in ((REFUSALS, "refusals"), (JOBS, "jobs")):
        Path(folder, name).touch()
        os.environ[variable] = str(Path(folder, name))
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join([str(BIN), *(each for each in folders if each != str(BIN))])


def _remove(folder: str, owner: int) -> None:
    """Remove a folder, unless this process is a fork of its owner."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def refusals() -> list[tuple[str, str]]:
    """Every refusal so far, the oldest first: WAITS or REFUSED, and Slurm's words."""
    with suppress(OSError, KeyError):
        lines = Path(os.environ[REFUSALS]).read_text(encoding="utf-8", errors="replace").splitlines()
        return [(kind, words) for kind, _, words in (line.partition("\t") for line in lines) if words]
    return []


def last_refusal() -> str:
    """The words of the last refusal for good; empty without one."""
    return next((words for kind, words in reversed(refusals()) if kind == REFUSED), "")
