"""A run's session with Snakemake: the environment of rules, its settings, the resources of its jobs."""

import ast
import importlib
import json
import math
import os
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from crossover.design.config import Config
from crossover.design.farming import EngineCounts, FixedEngines
from crossover.design.launch import Launch
from crossover.design.settings import Settings
from crossover.doctor import facts
from crossover.errors import CrossoverError
from crossover.measure.ranks import variables
from crossover.paths import WORKFLOW
from crossover.planning import plan, receipt
from crossover.planning.demand import Forced
from crossover.slurm import acceptance, cluster

ON_ONE_HOST = {"experiment": "", "placement": "node", "launch": 1}
"""The launch for which a profile's resources are read."""


FOREIGN = ("PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "BASH_ENV")
"""Variables by which a user's packages, Python or commands would replace those of a run."""


def expose() -> None:
    """Make `python` in a rule mean this interpreter, with this package and no other of the user's on its path.

    With `--sdm conda`, the conda environment still comes first, because Snakemake activates it later.
    """
    present, folder = os.environ.get("PATH", "").split(os.pathsep), str(Path(sys.executable).parent)
    if present[0] != folder:
        os.environ["PATH"] = os.pathsep.join([folder, *filter(None, present)])
    # Without SAFEPATH, a script in the working folder would replace a library's module of its name.
    own = {"PYTHONPATH": str(WORKFLOW), "PYTHONSAFEPATH": "1", "PYTHONNOUSERSITE": "1"}
    foreign = [name for name in FOREIGN if os.environ.get(name, own.get(name)) != own.get(name)]
    for name in foreign:
        del os.environ[name]
    if foreign:
        print(f"ignored: {' '.join(foreign)}; crossover uses the packages in .venv alone", file=sys.stderr)
    os.environ |= own


def require_linux() -> None:
    """Raise CrossoverError on another system."""
    if sys.platform != "linux":
        raise CrossoverError(
            f"crossover measures on Linux, and this is {sys.platform}; on macOS use a virtual machine or a container "
            "with Linux, on Windows WSL 2"
        )


def begin() -> None:
    """Give this run an identity, and record the variables of its command; its jobs inherit both."""
    os.environ |= {
        receipt.RUN: secrets.token_hex(8),
        variables.RECORDED: json.dumps(variables.changing(os.environ)),
        variables.OF_USER: json.dumps(variables.threads(os.environ)),
    }


OF_JOB = ("SLURM_JOB_ID", "SLURM_JOBID", "SLURM_CLUSTER_NAME", "SLURM_SUBMIT_DIR", "SLURM_SUBMIT_HOST", "SLURM_CONF")
"""The variables of Slurm that a launch keeps: which job it is part of, and how to ask Slurm."""


def leave_step() -> None:
    """Forget what Slurm granted the step of a job's Snakemake, because `srun` would request the same for ranks."""
    for name in [name for name in os.environ if name.startswith(("SLURM_", "SRUN_", "SBATCH_"))]:
        if name not in OF_JOB:
            del os.environ[name]


def hosts(workflow: Any) -> int:
    """The most hosts that a launch can have: 1 on a single machine, on a cluster the most in use at a time."""
    if workflow.nodes is None:
        return 1
    bounds = workflow.global_resources
    return int(bounds["nodes"].value) if "nodes" in bounds else sys.maxsize


def slurm_resources(workflow: Any, launch: Mapping[str, Any] = ON_ONE_HOST) -> dict[str, Any]:
    """The resources that profiles and the command line give to a launch; empty if launches do not run on Slurm.

    In a dry run, Snakemake hides the executor, so Slurm is recognised by its own resources.
    """
    settings = workflow.resource_settings
    found = {}
    for group in (settings.default_resources or {}, settings.overwrite_resources.get("launch", {})):
        for name, entry in group.items():
            found[name] = _evaluated(entry, **launch) if entry.is_evaluable() else entry.value
    return found if any(name.startswith("slurm_") for name in found) else {}


def slurm_extra(workflow: Any) -> Callable[[Launch], Any]:
    """A function of launches: the options of sbatch that the profile gives each, which may depend on the launch."""
    entry = workflow.resource_settings.overwrite_resources.get("launch", {}).get("slurm_extra")

    def options(launch: Launch) -> Any:
        return _evaluated(entry, **launch.identity) if entry is not None and entry.is_evaluable() else None

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


TRIGGERS = ("mtime", "params")
"""What may make Snakemake repeat a job; the rules rely on it."""


def require_triggers(triggers: Any) -> None:
    """Raise CrossoverError if Snakemake would repeat launches for reasons that do not concern them."""
    if more := sorted({each.name.lower() for each in triggers} - set(TRIGGERS)):
        raise CrossoverError(
            f"rerun-triggers: with {', '.join(more)}, measured launches would be measured again; use a profile of this "
            f"project, such as --profile profiles/local, or add: --rerun-triggers {' '.join(TRIGGERS)}"
        )


def forced(workflow: Any) -> Forced:
    """What the command forces to be measured again (-F, -R, -f)."""
    settings = workflow.dag_settings
    named = {*settings.forcerun, *(settings.targets if settings.forcetargets else ())}
    return Forced(settings.forceall, frozenset(str(Path(each)) for each in named))


def targets(workflow: Any) -> list[str]:
    """The rules and files that Snakemake makes: the targets, and what the command forces, prefers or ends with."""
    settings = workflow.dag_settings
    more = {*settings.forcerun, *settings.until, *workflow.scheduling_settings.prioritytargets}
    single = [each for each in more if not (workflow.is_rule(each) and workflow.get_rule(each).has_wildcards())]
    return [*(settings.targets or ["all"]), *single]


def require_values(words: Sequence[str]) -> None:
    """Exit with a message if a target follows --config, which takes all words up to the next option."""
    option = ""
    for word in words:
        option = word if word.startswith("-") else option
        if option in ("-C", "--config") and word != option and "=" not in word:
            sys.exit(f"--config takes key=value, not {word!r}; if that is a target, put -- before it: -- {word}")


# ---- what the cluster grants


MOST_ENGINES = 8
"""The most engines that farms have at tier quick unless the configuration says how many."""


def engines_here() -> int:
    """As many engines as this host has cores."""
    return _engines(len(os.sched_getaffinity(0)))


def _engines(cores: float) -> int:
    return max(FixedEngines.engines, min(MOST_ENGINES, int(cores)))


def with_engines(config: Config, stated: Mapping[str, Any], slurm: Mapping[str, Any]) -> Config:
    """The configuration with as many engines as a host has cores, at tier quick, where it states no number."""
    if config.tier != "quick":
        return config
    cores = cluster.partition(slurm.get("slurm_partition")).processors if slurm else len(os.sched_getaffinity(0))
    count = _engines(cores) if cores < math.inf else FixedEngines.engines
    stated_keys = {name: {*(own or {})} for name, own in (stated.get("experiments") or {}).items()}

    def fitted(name: str, own: Settings) -> Settings:
        if isinstance(own, FixedEngines) and "engines" not in stated_keys.get(name, ()):
            return replace(own, engines=count)
        # Several counts are an axis.
        if (
            isinstance(own, EngineCounts)
            and len(own.engine_counts) == 1
            and "engine_counts" not in stated_keys.get(name, ())
        ):
            return replace(own, engine_counts=(count,))
        return own

    return replace(config, experiments={name: fitted(name, own) for name, own in config.experiments.items()})


def of_cluster(config: Config, stated: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The keys of each experiment that hosts and their cores decided, because the configuration does not."""
    found = {}
    for name, own in config.experiments.items():
        said = (stated.get("experiments") or {}).get(name) or {}
        keys = [plan.HOSTS] if own.pairs_of_hosts and said.get(plan.HOSTS) != own.hosts_across() else []
        counted = {FixedEngines: "engines", EngineCounts: "engine_counts"} if config.tier == "quick" else {}
        # Several counts are an axis.
        single = len(getattr(own, "engine_counts", "1")) == 1
        keys += [key for kind, key in counted.items() if single and isinstance(own, kind) and key not in said]
        found[name] = tuple(keys)
    return found


def granted(config: Config, slurm: Mapping[str, Any]) -> tuple[Config, float]:
    """The configuration fitted to the hosts that Slurm grants a launch, and the most minutes that it grants a job."""
    if not slurm:
        return plan.fitted(config), math.inf
    # The doctor has a job for two hosts, whatever the experiments need.
    if (wanted := min(max(plan.most_hosts(config), *facts.HOSTS.values()), config.hosts)) > 1:
        hosts, reason = acceptance.most_hosts(slurm, wanted)
        config = plan.fitted(replace(config, hosts=hosts))
        # Launches with more are left out and named, and so is the doctor's job for two hosts.
        config = replace(config, too_few_nodes=reason if hosts == 1 or plan.waiting(config) else "")
    return config, cluster.partition(slurm.get("slurm_partition")).minutes


def available(slurm: Mapping[str, Any], hosts: int) -> int | None:
    """The most nodes that a run can use at a time, by the partition and the key `nodes`; None if unknown."""
    if slurm:
        return cluster.most_nodes(slurm.get("slurm_partition"), hosts)
    return None if hosts == sys.maxsize else hosts
