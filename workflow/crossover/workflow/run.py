"""One run of the workflow, for its rules: they look up paths in its plan."""

import atexit
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from crossover import code_digest
from crossover.config import claim_list, published, schema
from crossover.design import experiments
from crossover.design.launch import Launch
from crossover.design.settings import TIERS
from crossover.errors import CrossoverError, plain
from crossover.measure.ranks import provenance
from crossover.planning import plan, receipt
from crossover.planning.batches import Job, Site
from crossover.planning.demand import Demand
from crossover.planning.plan import Plan
from crossover.planning.receipt import Files
from crossover.records import atomic
from crossover.slurm import submission
from crossover.workflow import folders, replication, session
from crossover.workflow.failures import Attempts

Answer = Callable[[Any], list[str]]
"""A function of wildcards, for Snakemake: files that a rule needs."""


class Run:
    """A run; `workflow` is Snakemake's, `config` its configuration. A dry run calls no hook, so it ends with `tell`."""

    def __init__(self, workflow: Any, config: Mapping[str, Any], tell: Callable[["Run"], None]):
        self.workflow, self._tell = workflow, tell
        self.decides = session.decides(workflow)
        with plain():
            schema.require_plain(workflow.config_settings.config)
            if self.decides:
                session.require_linux()
                folders.require_own()
            self.hosts = session.hosts(workflow)
            # The process that plans the run has checked it.
            complete = schema.complete(config, checked=not self.decides, hosts=self.hosts)
            folders.require(complete.results)
            folders.share(complete.results)
            self.config = replace(replication.replicated(complete), hosts=self.hosts)
            if self.decides:
                claim_list.read("config/claims.yaml", self.config.farms)
                published.read()
        self.results, self.tier = self.config.results, self.config.tier
        self.partial = self.config.partial
        self.slurm = session.slurm_resources(workflow) if self.decides and not self.partial else {}
        if self.slurm:
            with plain():
                submission.settle_environment()
        with plain():
            self.config, self.most_minutes = session.granted(self.config, self.slurm)
            if self.decides:
                self.config = session.with_engines(self.config, config, self.slurm)
        self._of_cluster = session.of_cluster(self.config, config)
        session.expose()
        if self.decides:
            session.begin()
        else:
            session.leave_step()
        self.attempts: Attempts | None = None
        self.began = time.monotonic()
        self.ending, self.ended = threading.Lock(), False
        """Held while the end is printed."""

    # ---- what the targets need

    @property
    def waiting(self) -> dict[str, Any]:
        """What larger clusters would measure, and the remarks of a partial run, for the page."""
        return {
            "hosts": plan.waiting(self.config),
            "too_few_nodes": self.config.too_few_nodes,
            "withheld": plan.withheld(self.config),
            "partial": [*self.plan.remarks],
        }

    @property
    def targets(self) -> dict[str, list[str]]:
        """The target rules: each experiment's own, and one for all."""
        return {"all": list(self.config.experiments)} | {name: [name] for name in self.config.experiments}

    def each(self, pattern: str, *names: str) -> Answer:
        """The files with this pattern of the experiments among `names` that have a launch; of all, if none has one."""
        names = names or tuple(self.config.experiments)
        return lambda _: [
            self.path(pattern).replace("{experiment}", name)
            for name in [each for each in names if self.plan.tables[each]] or names
        ]

    def receipts(self, *names: str) -> Answer:
        """The receipts from which the tables of these experiments are made, or of the wildcards' one."""
        return lambda wildcards: [path for name in names or (wildcards.experiment,) for path in self.plan.tables[name]]

    @cached_property
    def plan(self) -> Plan:
        """What this run needs and measures. Made with the first input, because Snakemake knows its targets only then.

        Ends the run, before any job and in a dry run too, if measured launches differ from what it would measure.
        """
        if not self.partial:
            with plain():
                session.require_triggers(self.workflow.dag_settings.rerun_triggers)
        others = receipt.other_tiers(self.results, self.tier, TIERS) if self.partial else {}
        found = plan.make(self._demand(), session.targets(self.workflow), self._site(), others)
        if found.conflict:
            sys.exit(found.conflict)
        if self.workflow.dryrun:
            atexit.register(self._tell, self)
        return found

    def _demand(self) -> Demand:
        with plain():
            held = receipt.held(self.results, self.tier)
        # With --sdm, launches run with the software of another environment, which is unknown here.
        known = held and not self.workflow.deployment_settings.deployment_method
        packages = {name for each in experiments.declared().values() for name in each.packages}
        software = provenance.software(packages) if known else None
        return Demand(self.config, held, software, session.forced(self.workflow), self._of_cluster)

    def _site(self) -> Site:
        # Snakemake calls the most jobs at a time `nodes`.
        jobs = self.workflow.nodes
        known = session.available(self.slurm, self.hosts) if jobs else None
        extra = session.slurm_extra(self.workflow)
        return Site(self.slurm, self.most_minutes, extra, known or jobs, jobs or sys.maxsize, bool(known or not jobs))

    # ---- one launch

    def path(self, pattern: str) -> str:
        """A pattern of paths with its results and tier; further wildcards are left."""
        return pattern.replace("{results}", self.results).replace("{tier}", self.tier)

    def launch(self, wildcards: Any) -> Launch:
        """The launch with these wildcards. Exits if its settings are not those of its receipt's name."""
        with plain():
            return self._checked(Files(Path(self._path(wildcards))))

    def _checked(self, files: Files) -> Launch:
        # The process that plans writes the file.
        known = not self.decides and files.description.exists()
        launch = experiments.read_launch(files.description) if known else self._launch(files)
        if arms := plan.unsafe(self.config, launch.settings):
            raise CrossoverError(f"not measured: {', '.join(arms)} of {launch.experiment}: {plan.UNSAFE}")
        if launch.settings.digest != files.digest:
            remedy = "so its receipt has another name; repeat the command without this one"
            raise CrossoverError(f"{files.path}: this launch has other settings now, {remedy}")
        return launch

    def _launch(self, files: Files) -> Launch:
        """The launch of this configuration with these files."""
        own = self.plan.launches.get(str(files.path)) if self.decides else None
        return own or plan.launch(self.config, *files.name)

    def options(self, wildcards: Any) -> list[str]:
        """The file of a launch and the digest of the code that measures it, for `crossover launch`."""
        launch, file = self.launch(wildcards), Files(Path(self._path(wildcards))).description
        if not (self.workflow.dryrun or file.exists()):
            step = "free some space there or make it writable, then repeat the command"
            with plain(), atomic.replacing(file, step) as part:
                part.write_text(launch.stored, encoding="utf-8")
        return [str(file), "--code", code_digest.of_launch(launch.experiment, launch.settings.entrants)]

    def minutes(self, wildcards: Any) -> int:
        """The part of a launch in the time that its job requests."""
        return self._job(wildcards).share(self._path(wildcards))

    def batch(self, wildcards: Any) -> str | None:
        """The group of a launch that shares its job; its launches are connected by `before`."""
        return self._job(wildcards).name

    def before(self, wildcards: Any) -> list[str]:
        """The receipt of the launch before this one in its job, if any."""
        return self._job(wildcards).before(self._path(wildcards))

    def _job(self, wildcards: Any) -> Job:
        return self.plan.job(self._path(wildcards)) if self.decides else Job()

    def libraries(self, wildcards: Any) -> list[str]:
        """The libraries of a launch that is measured, or may be again because it was a hole; none of a measured one.

        As `ancient` inputs of measured launches they would not do: if one must be built again, Snakemake takes the
        reasons of all that depends on it from that build alone, and an `ancient` input passes none on.
        """
        if self.decides and self._path(wildcards) in self.plan.measured:
            return []
        return plan.libraries(self.config, wildcards.experiment)

    def _path(self, wildcards: Any) -> str:
        return receipt.PATH.format(results=self.results, tier=self.tier, **wildcards)
