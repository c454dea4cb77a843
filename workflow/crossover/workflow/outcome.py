"""The steps of the analysis in which a part failed, and raw files that could not be read: the run ends with code 1.

Such a step leaves whole files, which Snakemake would accept. So the file FILE counts the failures of each step. The
count is a parameter of the step's rule, and a changed parameter repeats the step. No count is ever lowered.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crossover.config import schema
from crossover.design.config import Config
from crossover.planning import plan
from crossover.planning.demand import Remark
from crossover.planning.refinement import REFINEMENT
from crossover.records import atomic
from crossover.records.holes import HoleKind

if TYPE_CHECKING:
    from crossover.records.failure import Failure

FILE = "failed.json"

OF_EXPERIMENT = {
    "refinement": REFINEMENT,
    "tables": "{results}/experiments/{experiment}/*.parquet",
    "figures": "{results}/figures/{experiment}",
}
OF_RUN = {
    "join": "{results}/*.parquet",
    "claims": "{results}/claims.parquet",
    "recommend": "{results}/recommendations.parquet",
    "ladder": "{results}/figures/ladder",
    "report": "{results}/report/index.html",
}
"""The files of each step, by the name of its log. A later step repeats failures of its input files."""

JUDGED = ("claims", "recommendations")
"""Tables beside the joined ones."""


@dataclass(frozen=True)
class Steps:
    """The steps that write to a folder of results, of the runs of one tier."""

    results: str
    tier: str

    def failures(self, step: str, experiment: str = "") -> int:
        """How often a step has failed, for a parameter of its rule."""
        return self._counts().get(self._log(step, experiment), 0)

    def conclude(self, experiments: Iterable[str], whole: bool, unreadable: Iterable[str] = ()) -> str:
        """Count the failures of the steps of these experiments, or of the whole run, and return them in words.

        The tables of experiments with `unreadable` raw files count as failed too, because a file that is restored has
        an old time.
        """
        steps = [(step, name) for step in OF_EXPERIMENT for name in experiments]
        logs: dict[Failure, str] = {}
        failed = {self._log("tables", name): None for name in unreadable}
        for step, name in [*steps, *((step, "") for step in OF_RUN if whole)]:
            log = self._log(step, name)
            for each in self._failures(step, name):
                logs.setdefault(each, log)
                failed[log] = None
        if failed:
            counts = self._counts()
            with atomic.replacing(Path(self.results, FILE)) as part:
                part.write_text(
                    json.dumps(counts | {log: counts.get(log, 0) + 1 for log in failed}, indent=1), encoding="utf-8"
                )
        return sentences(logs, {each: f"{self.results}/{log}" for each, log in logs.items()}) if logs else ""

    def _failures(self, step: str, experiment: str) -> list[Failure]:
        # Imported here, because every Snakemake process loads this module, and only one ends a run.
        from crossover.records import failure

        known = {"results": self.results, "tier": self.tier, "experiment": experiment}
        pattern = Path((OF_EXPERIMENT | OF_RUN)[step].format(**known))
        paths = sorted(Path(self.results).glob(str(pattern.relative_to(self.results))))
        return [each for path in paths if step != "join" or path.stem not in JUDGED for each in failure.of(path)]

    @staticmethod
    def _log(step: str, experiment: str) -> str:
        """The log of a step, in the folder of results."""
        return "/".join(filter(None, ["logs", experiment, f"{step}.log"]))

    def _counts(self) -> dict[str, int]:
        with suppress(OSError, ValueError):
            found: dict[str, int] = json.loads(atomic.regular(Path(self.results, FILE)).read_text(encoding="utf-8"))
            return found
        return {}


def unreadable(results: str, experiments: Iterable[str]) -> list[dict[str, Any]]:
    """The launches of these experiments whose raw file could not be read, as rows of record.LAUNCHES."""
    from crossover.records import record

    found: list[dict[str, Any]] = []
    for name in experiments:
        # A missing or damaged table has ended its step with a message.
        with suppress(record.RecordError):
            rows = record.read(Path(results, "experiments", name, "launches.parquet"), record.LAUNCHES).to_pylist()
            found += [row for row in rows if row["hole"] == HoleKind.UNREADABLE]
    return found


def sentences(failures: Iterable[Failure], logs: Mapping[Failure, str] | None = None) -> str:
    """The failures, for a terminal: a line for each cause, and the log with its traceback."""
    from crossover.records import failure

    known = logs or {}
    lines = []
    for cause, group in failure.grouped(list(failures)).items():
        files = dict.fromkeys(known[each] for each in group if known.get(each))
        lines.append(f"  {failure.names(group)}: {cause.error}" + (f" ({cause.place})" if cause.place else ""))
        lines += [f"    traceback: {', '.join(files)}"] if files else []
    return "\n".join(
        [
            "Parts of this run failed; the rest is complete, and the page names the missing parts:",
            *lines,
            "This is probably a bug in crossover: please report it. To retry the failed parts, repeat the command.",
        ]
    )


def waiting(stated: Mapping[str, Any], config: Config, remarks: Iterable[Remark]) -> dict[str, Any]:
    """What higher tiers and larger clusters would measure, and the remarks of a partial run, for the page."""
    return {
        "tiers": schema.waiting(stated),
        "hosts": plan.waiting(config),
        "too_few_nodes": config.too_few_nodes,
        "withheld": plan.withheld(config),
        "partial": [remark.text for remark in remarks],
    }
