"""One run of the workflow, for its rules: the receipts that its targets need, and the jobs that launches share."""

import atexit
import hashlib
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from crossover import code_digest, experiments
from crossover.config import claim_list, published, schema
from crossover.design.launch import Launch
from crossover.design.settings import TIERS
from crossover.errors import CrossoverError, plain
from crossover.measure.ranks import provenance
from crossover.planning import command, plan, receipt
from crossover.planning.batches import Jobs
from crossover.planning.command import Command
from crossover.planning.demand import Demand, Remark
from crossover.planning.estimate import Course
from crossover.planning.receipt import Files, Receipt
from crossover.records import atomic
from crossover.slurm import submission
from crossover.workflow import folders, replication, session
from crossover.workflow.failures import Attempts

Answer = Callable[[Any], list[str]]
"""A function of wildcards, for Snakemake: files that a rule needs."""


class Run:
    """A run; `workflow` is Snakemake's, `config` its configuration. A dry run calls no hook, so it ends with `tell`."""

    def __init__(self, workflow: Any, config: Mapping[str, Any], tell: Callable[["Run"], None]):
        self.workflow, self.stated, self._tell = workflow, config, tell
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
        self.config, self.most_minutes = session.granted(self.config, self.slurm)
        if self.decides:
            self.config = session.with_engines(self.config, config, self.slurm)
        session.expose()
        if self.decides:
            session.begin()
        else:
            session.leave_step()
        self.asked: dict[str, Launch] = {}
        """The receipts that the targets need, with their launches."""
        self.named: dict[tuple[str, str, int], Launch] = {}
        """The same launches by `Launch.name`."""
        self.due: list[Launch] = []
        """Those among them that this run measures."""
        self.experiments: dict[str, None] = {}
        """The experiments of which the targets need tables."""
        self.attempts: Attempts | None = None
        self.ending, self.ended = threading.Lock(), False
        """Held while the end is printed."""
        self.jobs = Jobs(self.slurm, self.most_minutes, session.slurm_extra(workflow))
        self._forces = partial(session.forces, workflow)
        self._launches: dict[str, Launch] = {}
        self._failed: dict[str, bool] = {}
        self._places: dict[str, tuple[int, bytes]] = {}
        self.course = Course(
            self.config,
            workflow.nodes,
            self.split,
            asked=lambda: self.experiments,
            available=partial(session.available, workflow, self.slurm, self.hosts),
        )

    # ---- what the targets need

    @property
    def waiting(self) -> dict[str, Any]:
        """What higher tiers and larger clusters would measure, and the remarks of a partial run, for the page."""
        return {
            "tiers": schema.waiting(self.stated),
            "hosts": plan.waiting(self.config),
            "too_few_nodes": self.config.too_few_nodes,
            "withheld": plan.withheld(self.config),
            "partial": [remark.text for remark in self.remarks],
        }

    @property
    def targets(self) -> dict[str, list[str]]:
        """The target rules: each experiment's own, and one for all."""
        return {"all": list(self.config.experiments)} | {name: [name] for name in self.config.experiments}

    def first(self, *names: str) -> Answer:
        """The receipts of the launches of these experiments, or of the wildcards' one; with `partial`, all that exist.

        Ends the run, before any job and in a dry run too, if measured launches differ from what it would measure.
        """

        def answer(wildcards: Any) -> list[str]:
            own = names or (wildcards.experiment,)
            self.experiments |= dict.fromkeys(own)
            if self.partial:
                return [path for name in own for path in self.demand.existing(name)]
            # Experiments that are targets together share jobs.
            if len(own) == 1 and own[0] in self.command.targets:
                self._need(self._launches_of(name for name in self.config.experiments if name in self.command.targets))
            return self._need(self._launches_of(own))

        return answer

    def _launches_of(self, names: Iterable[str]) -> list[Launch]:
        return [launch for name in names for launch in plan.launches(self.config, name)]

    def _need(self, launches: Sequence[Launch]) -> list[str]:
        """The receipts of these launches. Those that are due get their jobs, once."""
        with plain():
            session.require_triggers(self.workflow.dag_settings.rerun_triggers)
        paths = [self.planned(launch) for launch in launches]
        new = {path: launch for path, launch in zip(paths, launches, strict=True) if path not in self.asked}
        unforced = [launch for path, launch in new.items() if not self._forces(path)]
        if differing := self.demand.conflict(unforced, self.command):
            sys.exit(differing)
        self.asked |= new
        self._places |= {path: self._drawn_place(launch) for path, launch in new.items()}
        self.named |= {launch.name: launch for launch in new.values()}
        due = [launch for path, launch in new.items() if path not in self._existing or self._forces(path)]
        self.due += due
        for job in self.split(due):
            self.jobs.add(job, [self.planned(launch) for launch in job])
        return paths

    def planned(self, launch: Launch) -> str:
        """The path of the receipt that a launch must have."""
        return str(self.demand.planned(launch).path)

    @cached_property
    def demand(self) -> Demand:
        """The receipts that launches must have, and those that exist."""
        if self.workflow.dryrun:
            atexit.register(self._tell, self)
        with plain():
            held = receipt.held(self.results, self.tier)
        self.jobs.learn(each for own in held.values() for each in own)
        # With --sdm, launches run with the software of another environment, which is unknown here.
        known = held and not self.workflow.deployment_settings.deployment_method
        packages = {name for each in experiments.declared().values() for name in each.packages}
        return Demand(self.config, held, provenance.software(packages) if known else None, self._forces)

    @cached_property
    def remarks(self) -> list[Remark]:
        """Remarks on the launches of a partial run."""
        others = receipt.other_tiers(self.results, self.tier, TIERS)
        return self.demand.remarks(others, self.command) if self.partial else []

    @cached_property
    def _existing(self) -> dict[str, Receipt]:
        return {str(each.path): each for own in self.demand.held.values() for each in own}

    @cached_property
    def command(self) -> Command:
        """The command that started the run. Snakemake knows its targets only once it plans."""
        return command.read(sys.argv[1:], self.workflow.dag_settings.targets)

    @property
    def whole(self) -> bool:
        """Whether the targets need the joined tables of all experiments."""
        return session.joins(self.workflow, self.results)

    # ---- one launch

    def path(self, pattern: str) -> str:
        """A pattern of paths with its results and tier; further wildcards are left."""
        return pattern.replace("{results}", self.results).replace("{tier}", self.tier)

    def launch(self, wildcards: Any) -> Launch:
        """The launch with these wildcards. Exits if its settings are not those of its receipt's name."""
        path = self._path(wildcards)
        if path not in self._launches:
            with plain():
                self._launches[path] = self._checked(Files(Path(path)))
        return self._launches[path]

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
        path = str(files.path)
        return self.asked[path] if path in self.asked else plan.launch(self.config, *files.name)

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
        return self.jobs.minutes([self._path(wildcards)])

    def batch(self, wildcards: Any) -> str | None:
        """The group of a launch that shares its job; its launches are connected by `before`."""
        return self.jobs.group(self._path(wildcards))

    def libraries(self, wildcards: Any) -> list[str]:
        """The libraries of a launch that is measured, or may be again because it was a hole; none of a measured one.

        As `ancient` inputs of measured launches they would not do: if one must be built again, Snakemake takes the
        reasons of all that depends on it from that build alone, and an `ancient` input passes none on.
        """
        path = self._path(wildcards)
        held = self._existing.get(path) if self.decides else None
        if held and held.measured and not self._forces(path):
            return []
        return plan.libraries(self.config, wildcards.experiment)

    def before(self, wildcards: Any) -> list[str]:
        """The receipt of the launch before this one in its job, if any."""
        path = self._path(wildcards)
        if self.decides and path not in self.asked:
            # It is a target of the command itself.
            files = Files(Path(path))
            launch = self._launch(files)
            self.demand.choose(launch, files)
            self._need([launch])
        return self.jobs.before(path)

    def _path(self, wildcards: Any) -> str:
        return receipt.PATH.format(results=self.results, tier=self.tier, **wildcards)

    # ---- jobs

    def split(self, launches: Iterable[Launch]) -> list[list[Launch]]:
        """The launches by the job that they share, in the order of the run."""
        ordered = sorted(launches, key=self._drawn_place)
        return self.jobs.split(ordered, [each for each in ordered if self._has_failed(self.demand.planned(each))])

    def place(self, path: str) -> tuple[Any, ...]:
        """The place in the run's order of the launch with this receipt; another file comes first."""
        return self._places.get(path, ())

    def _drawn_place(self, launch: Launch) -> tuple[int, bytes]:
        """The first launch of every experiment, then the second of every one, so that the intervals of an experiment
        have the states of the machine during the whole run. Among these, a hash draws the order; resumed, a run has
        the same.
        """
        return launch.repetition, hashlib.sha256(self.planned(launch).encode()).digest()

    def _has_failed(self, files: Files) -> bool:
        """Whether an earlier run has begun a launch, and it left no receipt; decided once, because a run adds logs."""
        path = str(files.path)
        if path not in self._failed:
            self._failed[path] = path not in self._existing and files.log.exists()
        return self._failed[path]
