"""A run's session with Snakemake: the environment of rules, the jobs and their groups."""

import ast
import importlib
import os
import sys
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from crossover.errors import CrossoverError
from crossover.paths import WORKFLOW
from crossover.slurm import partition

ON_ONE_HOST = {"experiment": "", "placement": "node", "launch": 1}
"""The launch for which a profile's resources are read."""

OF_ONE_JOB = "batch"
"""The group of all launches in a process that Snakemake has started for one job."""

_due: dict[tuple[str, str], dict[str, Any]] = {}


def expose() -> None:
    """Make `python` in a rule mean this interpreter, with this package on its path.

    With `--sdm conda`, the conda environment still comes first, because Snakemake activates it later.
    """
    for variable, folder in (("PATH", Path(sys.executable).parent), ("PYTHONPATH", WORKFLOW)):
        present = os.environ.get(variable, "").split(os.pathsep)
        if present[0] != str(folder):
            os.environ[variable] = os.pathsep.join([str(folder), *filter(None, present)])


def begin(workflow: Any) -> None:
    """Tell this run's jobs when it was planned, in seconds since 1970, by the variable BEGAN of the supervisor."""
    if decides(workflow):
        os.environ["CROSSOVER_BEGAN"] = str(time.time())


def hosts(workflow: Any) -> int:
    """The most hosts that a launch can have: 1 on a single machine, on a cluster the most in use at a time."""
    if workflow.nodes is None:
        return 1
    bounds = workflow.global_resources
    return int(bounds["nodes"].value) if "nodes" in bounds else sys.maxsize


def most_nodes(workflow: Any) -> int | None:
    """The most nodes that this run can use at a time, by the partition and the key `nodes`; None if unknown."""
    bounds = [hosts(workflow)]
    launches = [job.resources for job in workflow.dag.needrun_jobs(exclude_finished=False) if job.rule.name == "launch"]
    # A dry run ends before the estimate, and in it Snakemake names no batch system, but the jobs' requests do.
    if workflow.executor_plugin.name == "slurm" or any(each.get("slurm_extra") for each in launches):
        names = dict.fromkeys(each.get("slurm_partition") for each in launches)
        answer = partition.ask("%P %D")
        bounds += filter(None, [partition.size(answer, name) for name in names])
    most = min(bounds)
    return None if most == sys.maxsize else min(most, workflow.nodes)


def slurm_resources(workflow: Any) -> dict[str, Any]:
    """The resources that profiles and the command line give to launches; empty if these do not run on Slurm.

    In a dry run, Snakemake hides the executor, so Slurm is recognised by its own resources.
    """
    settings = workflow.resource_settings
    found = {}
    for group in (settings.default_resources or {}, settings.overwrite_resources.get("launch", {})):
        for name, entry in group.items():
            found[name] = _evaluated(entry, **ON_ONE_HOST) if entry.is_evaluable() else entry.value
    return found if any(name.startswith("slurm_") for name in found) else {}


def slurm_extra(workflow: Any) -> Callable[[Mapping[str, Any]], Any]:
    """A function of launches: the options of sbatch that the profile gives each, which may depend on the launch."""
    entry = workflow.resource_settings.overwrite_resources.get("launch", {}).get("slurm_extra")

    def options(launch: Mapping[str, Any]) -> Any:
        return _evaluated(entry, **launch) if entry is not None and entry.is_evaluable() else None

    return options


def _evaluated(entry: Any, **launch: Any) -> Any:
    """The value of a resource that a profile gives as an expression; an expression that fails stays a text."""
    with suppress(ValueError, SyntaxError):
        return ast.literal_eval(entry.raw)
    wildcards = SimpleNamespace(**{name: str(value) for name, value in launch.items()})
    try:
        return entry.evaluate(wildcards, input=[], attempt=1, threads=1, rulename="launch", async_run=None).value
    except Exception:
        # Snakemake reports it with the job that needs it.
        return entry.raw


def decides(workflow: Any) -> bool:
    """Whether this process plans the run; it does not if Snakemake has started it for a single job."""
    return bool(workflow.exec_mode == importlib.import_module("snakemake.settings.types").ExecMode.DEFAULT)


def batch(workflow: Any, names: Mapping[tuple[Any, ...], str], wildcards: Any) -> str | None:
    """The group job of the launch with these wildcards; None if it has a job of its own.

    A process that Snakemake has started for one job has no other launches, so all of them belong together.
    """
    if decides(workflow):
        return names.get((wildcards.experiment, wildcards.placement, int(wildcards.launch)))
    return OF_ONE_JOB


class Unbounded(dict[str, int]):
    """The components that Snakemake may join in a group: any number, in every group that is not named.

    Snakemake writes the named ones on the command line of each job, which thousands of batches would make too long.
    """

    def get(self, group: str, default: Any = None) -> Any:
        """The bound of a group."""
        return super().get(group, sys.maxsize)


def join(workflow: Any) -> None:
    """Make each group one job, in which launches follow each other although they are independent.

    Each launch needs one of the resource `alone`, of which every job has one.
    """
    workflow.global_resources["alone"] = 1
    prepare = workflow._prepare_dag

    # The settings of groups are known when Snakemake calls this.
    def prepared(*positional: Any, **named: Any) -> None:
        settings = workflow.group_settings
        settings.group_components = Unbounded(settings.group_components)
        prepare(*positional, **named)

    workflow._prepare_dag = prepared


def name_jobs(workflow: Any, start: str) -> None:
    """Let the names of this run's jobs of Slurm begin so; call this when Snakemake knows its executor."""
    settings = workflow.executor_settings
    if hasattr(settings, "jobname_prefix"):
        settings.jobname_prefix = "_".join(filter(None, [start, settings.jobname_prefix]))


def requests(workflow: Any) -> list[Any]:
    """The resources of each job of this run that a batch system gets."""
    jobs = [job for job in workflow.dag.needrun_jobs() if not job.is_local]
    return [(workflow.dag.get_job_group(job) or job).resources for job in jobs]


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
        named = _wildcards(job)
        _due[job.rule.name, str(named)] = named
    return [named for (name, _), named in _due.items() if name == rule]


def planned(workflow: Any, rule: str) -> list[dict[str, Any]]:
    """The same for every job that the targets need, including those with nothing left to do."""
    named = [*due(workflow, rule), *(_wildcards(job) for job in workflow.dag.jobs if job.rule.name == rule)]
    return list({str(each): each for each in named}.values())


def failed(workflow: Any, rule: str) -> list[dict[str, Any]]:
    """The same for the jobs that failed, after all their retries; of a failed group, for all of its jobs."""
    jobs = workflow.scheduler.failed if workflow.scheduler else ()
    members = (own for job in jobs for own in (job.jobs if job.is_group() else [job]))
    return [_wildcards(job) for job in members if job.rule.name == rule]


def _wildcards(job: Any) -> dict[str, Any]:
    return {name: int(value) if value.isdigit() else value for name, value in sorted(job.wildcards_dict.items())}


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


def when_idle(workflow: Any, tell: Callable[[], None]) -> None:
    """Call `tell` at the end of a run that has nothing to do: Snakemake calls no hook then."""
    execute = workflow.execute

    def executed(*positional: Any, **named: Any) -> Any:
        done = execute(*positional, **named)
        if not workflow.dryrun and not any(workflow.dag.needrun_jobs(exclude_finished=False)):
            tell()
        return done

    workflow.execute = executed


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
