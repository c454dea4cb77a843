"""A launch across hosts without Snakemake: by a supervisor on the login node, which holds an allocation."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clusters import OnCluster
from copies import copy_of_the_project
from slurm import Cluster

from crossover.analyse.tables.raw_files import refuse_impossible
from crossover.config import schema
from crossover.design.launch import Launch as Planned
from crossover.design.settings import Settings
from crossover.measure.native import compiler
from crossover.paths import NATIVE
from crossover.planning import plan, receipt
from crossover.planning.receipt import Files
from crossover.records import record

TWO_NODES = ("salloc", "--quiet", "--exclusive", "--nodes=2")


@dataclass
class Launch:
    """One launch in a copy of the project, by a supervisor on the login node."""

    project: OnCluster
    case: str
    planned: Planned

    @property
    def settings(self) -> Settings:
        return self.planned.settings

    @property
    def experiment(self) -> str:
        return self.planned.experiment

    @property
    def files(self) -> Files:
        return Files.of(str(self.project.folder / self.case.replace(" ", "-")), "smoke", self.planned, 0)

    @property
    def receipt(self) -> Path:
        return self.files.path

    @property
    def log(self) -> Path:
        return self.files.log

    def start(self, mpi: str = "srun --mpi=pmi2", job: tuple[str, ...] = TWO_NODES, *options: str) -> Any:
        folder, file = self.project.folder, self.files.description
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.planned.stored, encoding="utf-8")
        return self.project.start(
            *("env", f"PYTHONPATH={folder / 'workflow'}", *job, "python", "-m", "crossover", "launch", str(file)),
            *("--mpi", mpi, "--receipt", str(self.receipt), "--log", str(self.log), *options),
            *("--libraries", *map(str, sorted((folder / "native").iterdir()))),
        )

    def finish(self, process: subprocess.Popen[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Wait for the launch; return its metadata and its rows."""
        try:
            said, _ = process.communicate(timeout=200)
        finally:
            process.kill()
        assert process.returncode == 0 and self.receipt.exists(), said
        raw = receipt.read(self.receipt).raw_file
        table = record.read(raw, record.MEASUREMENTS)
        facts = record.metadata(table)
        refuse_impossible(raw, table, facts["ranks"])
        return facts, table.to_pylist()

    def hole(self, *asked: Any) -> tuple[str, str]:
        # A hole would not replace an earlier measurement.
        self.receipt.unlink(missing_ok=True)
        facts, rows = self.finish(self.start(*asked))
        assert rows == []
        return facts["launch"]["hole"], facts["launch"]["reason"]


def configured(project: OnCluster, case: str, experiment: dict[str, Any]) -> Launch:
    """The first launch across hosts, with these settings, of the experiment that the case's first word names."""
    name = case.split()[0]
    config = schema.complete({"tier": "smoke", "experiments": {name: experiment}})
    return Launch(project, case, plan.launch(config, name, "nodes", 1))


def copied(slurm: Cluster, folder: str) -> OnCluster:
    """A copy of the project in the cluster's shared folder, with its libraries built."""
    project = OnCluster(copy_of_the_project(slurm.shared / folder).folder, slurm)
    for source in NATIVE.glob("*.c"):
        assert compiler.build(source, project.folder / "native" / f"{source.stem}.so") == ""
    return project
