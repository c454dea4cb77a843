"""A run's session with Snakemake: plain errors, the environment of rules, the jobs, the claim on a results folder."""

import ast
import fcntl
import importlib
import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from crossover.errors import CrossoverError
from crossover.paths import WORKFLOW

_due: dict[tuple[str, str], dict[str, Any]] = {}


@contextmanager
def plain() -> Iterator[None]:
    """Exit with code 1 and the message alone if a CrossoverError is raised."""
    try:
        yield
    except CrossoverError as error:
        sys.exit(str(error))


def expose() -> None:
    """Make `python` in a rule mean this interpreter, with this package on its path.

    With `--sdm conda`, the conda environment still comes first, because Snakemake activates it later.
    """
    for variable, folder in (("PATH", Path(sys.executable).parent), ("PYTHONPATH", WORKFLOW)):
        present = os.environ.get(variable, "").split(os.pathsep)
        if present[0] != str(folder):
            os.environ[variable] = os.pathsep.join([str(folder), *filter(None, present)])


def hosts(workflow: Any) -> int:
    """The most hosts that a launch can have: 1 on a single machine, on a cluster the most in use at a time."""
    if workflow.nodes is None:
        return 1
    bounds = workflow.global_resources
    return int(bounds["nodes"].value) if "nodes" in bounds else sys.maxsize


def slurm_resources(workflow: Any) -> dict[str, Any]:
    """The resources that profiles and the command line give to launches; empty if these do not run on Slurm.

    In a dry run, Snakemake hides the executor, so Slurm is recognised by its own resources.
    """
    settings = workflow.resource_settings
    found = {}
    for group in (settings.default_resources or {}, settings.overwrite_resources.get("launch", {})):
        for name, entry in group.items():
            found[name] = _on_one_host(entry) if entry.is_evaluable() else entry.value
    return found if any(name.startswith("slurm_") for name in found) else {}


def _on_one_host(entry: Any) -> Any:
    """The value of a resource that a profile gives as an expression, for a launch on one host.

    An expression that fails stays a text.
    """
    with suppress(ValueError, SyntaxError):
        return ast.literal_eval(entry.raw)
    wildcards = SimpleNamespace(experiment="", placement="node", launch="1")
    try:
        return entry.evaluate(wildcards, input=[], attempt=1, threads=1, rulename="launch", async_run=None).value
    except Exception:
        # Snakemake reports it with the job that needs it.
        return entry.raw


def decides(workflow: Any) -> bool:
    """Whether this process plans the run; it does not if Snakemake has started it for a single job."""
    return bool(workflow.exec_mode == importlib.import_module("snakemake.settings.types").ExecMode.DEFAULT)


def ask_instead(workflow: Any, files: Collection[str], rule: str) -> None:
    """Replace these files among the targets by a rule that needs them: Snakemake rejects a target without a rule."""
    prepare = workflow._prepare_dag

    # The targets are known when Snakemake calls this.
    def prepared(*positional: Any, **named: Any) -> None:
        targets = set(workflow.dag_settings.targets)
        existing = {target for target in targets if str(Path(target)) in files}
        workflow.dag_settings.targets = (targets - existing) | {rule}
        prepare(*positional, **named)

    workflow._prepare_dag = prepared


def repeat(workflow: Any, files: Collection[str]) -> None:
    """Make these files again if the run needs them; unlike with `--forcerun`, they do not become targets."""
    prepare = workflow._prepare_dag

    def prepared(*positional: Any, **named: Any) -> None:
        prepare(*positional, **named)
        workflow.dag.forcefiles.update(files)

    workflow._prepare_dag = prepared


def due(workflow: Any, rule: str) -> list[dict[str, Any]]:
    """The wildcards of a rule's jobs in this run, whether finished or not, with numbers as int."""
    # Kept between calls, because Snakemake drops finished jobs when a checkpoint adds new ones.
    for job in workflow.dag.needrun_jobs(exclude_finished=False):
        named = {name: int(value) if value.isdigit() else value for name, value in sorted(job.wildcards_dict.items())}
        _due[job.rule.name, str(named)] = named
    return [named for (name, _), named in _due.items() if name == rule]


def require_rule_names(settings: Any) -> None:
    """Raise CrossoverError if a profile's resource `settings` use the old name of the rule `launch`.

    Snakemake ignores unknown rules there, so launches would run without their launcher and exclusive nodes.
    """
    if "measure" in {*settings.overwrite_resources, *settings.overwrite_threads}:
        raise CrossoverError(
            "the rule `measure` is now called `launch`; rename it in your profile, under set-resources and set-threads"
        )


def when_planned(workflow: Any, look: Callable[[], None]) -> None:
    """Call `look` when Snakemake knows the jobs, before it starts any.

    Unlike the hook `onstart`, this includes dry runs, and runs with nothing left to do.
    """
    build = workflow._build_dag

    def planned() -> None:
        build()
        look()

    workflow._build_dag = planned


def leave_updated_files_alone() -> None:
    """Stop Snakemake from backing up a file that a job replaces, and from restoring it if the job fails.

    The supervisor renames a whole file over the old one, so there is nothing to restore. A backup that a full disk or a
    kill truncates would replace a good file.
    """
    mixin = importlib.import_module("snakemake.persistence").FileBackupMixin
    mixin.backup_output = lambda self, path: None
    mixin.cleanup_backup = lambda self, path: None
    # True keeps the file; otherwise Snakemake removes the output of a failed job.
    mixin.restore_output = lambda self, path: Path(path).exists()


def outwait_controller() -> None:
    """Make Slurm's plugin keep using `squeue`, if so configured, while Slurm's controller does not answer.

    Before each query, the plugin asks the controller how long it remembers ended jobs. Without an answer, it uses
    `sacct`, which without accounting reports nothing. Then the plugin (2.8) loses its jobs and waits for ever. So its
    first answer is reused.
    """
    plugin = importlib.import_module("snakemake_executor_plugin_slurm")
    seconds = plugin.get_min_job_age()
    if seconds is not None:
        plugin.get_min_job_age = lambda: seconds  # type: ignore[attr-defined]


def request_whole_memory() -> None:
    """Make `sbatch` request the whole memory of each node for jobs that request none, instead of Slurm's default.

    The plugin takes `mem_mb: 0` for no request, and refuses `--mem` among a job's own options.
    """
    os.environ.setdefault("SBATCH_MEM_PER_NODE", "0")


def claim(results: str | Path) -> None:
    """Claim `results` until this process ends. The kernel then closes the file, even if the process is killed.

    Raises CrossoverError if another run holds the claim.
    """
    Path(results).mkdir(parents=True, exist_ok=True)
    handle = os.open(Path(results) / ".claim", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(handle, 64).decode().strip()
        os.close(handle)
        raise CrossoverError(
            f"another run (process {holder}) works in {results}; wait for it, end it, or choose another folder with "
            "--config results=..."
        ) from None
    os.truncate(handle, 0)
    os.write(handle, str(os.getpid()).encode())
