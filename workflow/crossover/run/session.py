"""One run of the workflow: how it fails, what its shell commands find, that no second run works in its results."""

from __future__ import annotations

import fcntl
import importlib
import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crossover.errors import CrossoverError
from crossover.paths import WORKFLOW

_claims: list[int] = []
_due: dict[tuple[str, str], dict[str, Any]] = {}


@contextmanager
def plain() -> Iterator[None]:
    """End with exit code 1 and the message alone of a CrossoverError."""
    try:
        yield
    except CrossoverError as error:
        sys.exit(str(error))


def expose() -> None:
    """Let a bare `python` in a rule be this interpreter, and let it find this package.

    An activated conda environment (`--sdm conda`) still comes first, because Snakemake activates it later.
    """
    for variable, folder in (("PATH", Path(sys.executable).parent), ("PYTHONPATH", WORKFLOW)):
        present = os.environ.get(variable, "").split(os.pathsep)
        if present[0] != str(folder):
            os.environ[variable] = os.pathsep.join([str(folder), *filter(None, present)])


def hosts(workflow: Any) -> int:
    """The most hosts that a launch can have: 1 on this machine alone, on a cluster what the run may use at a time."""
    if workflow.nodes is None:
        return 1
    bounds = workflow.global_resources
    return int(bounds["nodes"].value) if "nodes" in bounds else sys.maxsize


def decides(workflow: Any) -> bool:
    """Whether this process plans the run; on a cluster Snakemake starts itself again for each job."""
    return bool(workflow.exec_mode == importlib.import_module("snakemake.settings.types").ExecMode.DEFAULT)


def measures_here(workflow: Any) -> bool:
    """Whether launches run with the software of this process, and not in an environment of their own (`--sdm`)."""
    return not workflow.deployment_settings.deployment_method


def ask_instead(workflow: Any, files: Collection[str], rule: str) -> None:
    """Let a rule that needs these files stand for them among the targets: Snakemake makes no file without a rule."""
    prepare = workflow._prepare_dag

    def prepared(*given: Any, **named: Any) -> Any:
        # Not known any earlier.
        asked = set(workflow.dag_settings.targets)
        there = {target for target in asked if str(Path(target)) in files}
        workflow.dag_settings.targets = (asked - there) | {rule}
        return prepare(*given, **named)

    workflow._prepare_dag = prepared


def experiments(workflow: Any) -> set[str]:
    """The experiments that this run's targets concern."""
    return {job.wildcards_dict["experiment"] for job in workflow.dag.jobs if "experiment" in job.wildcards_dict}


def due(workflow: Any, rule: str) -> list[dict[str, Any]]:
    """The wildcards of a rule's jobs in this run, done already or not, numbers as numbers."""
    # Kept from one look to the next: Snakemake forgets what is done when a checkpoint adds what is yet to do.
    for job in workflow.dag.needrun_jobs(exclude_finished=False):
        named = {name: int(value) if value.isdigit() else value for name, value in sorted(job.wildcards_dict.items())}
        _due[job.rule.name, str(named)] = named
    return [named for (name, _), named in _due.items() if name == rule]


def when_planned(workflow: Any, look: Callable[[], None]) -> None:
    """Call `look` once Snakemake knows the jobs and before it starts any.

    Unlike the hook `onstart`, in a dry run too, and where nothing is left to do.
    """
    build = workflow._build_dag

    def planned() -> None:
        build()
        look()

    workflow._build_dag = planned


def leave_updated_files_alone() -> None:
    """Keep Snakemake from copying a file that a job replaces to one side, and back where the job fails.

    The supervisor renames a whole file over the old one, so there is nothing to restore; and a copy that a full disk or
    a kill cuts off would be put in the place of a good file.
    """
    mixin = importlib.import_module("snakemake.persistence").FileBackupMixin
    mixin.backup_output = lambda self, path: None
    mixin.cleanup_backup = lambda self, path: None
    # Whether the file is there and stays: what a failed job leaves is removed otherwise.
    mixin.restore_output = lambda self, path: Path(path).exists()


def outwait_controller() -> None:
    """Let Slurm's plugin go on asking `squeue`, if that is what it was told, while Slurm's controller is away.

    At each look the plugin asks the controller how long it remembers ended jobs. No answer counts as too short: it then
    asks `sacct`, which answers nothing where no accounts are kept, forgets its jobs and waits for ever (2.8). So the
    answer that is given now is kept.
    """
    plugin = importlib.import_module("snakemake_executor_plugin_slurm")
    seconds = plugin.get_min_job_age()
    if seconds is not None:
        plugin.get_min_job_age = lambda: seconds  # type: ignore[attr-defined]


def claim(results: str | Path) -> None:
    """Hold `results` until this process ends, however it ends: the kernel gives the claim back, a file would not.

    Raises CrossoverError if another run holds it.
    """
    Path(results).mkdir(parents=True, exist_ok=True)
    handle = os.open(Path(results) / ".claim", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(handle, 64).decode().strip()
        os.close(handle)
        raise CrossoverError(
            f"another run (process {holder}) is working in {results}; wait for it, or end it, or choose "
            "another folder with --config results=..."
        ) from None
    os.truncate(handle, 0)
    os.write(handle, str(os.getpid()).encode())
    _claims.append(handle)
