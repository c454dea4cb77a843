"""The result of a check: its severity, the facts behind it, and the key to set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Facts = Mapping[str, Any]
"""Facts from a check; those of a job have the facts of its ranks under `pair`. Empty if the check did not run."""


class Verdict(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    WARNING = "warning"
    """Launches run, but measurements may suffer or be incomplete."""
    PROBLEM = "problem"
    """Launches, or launches of one kind, do not run."""
    UNKNOWN = "unknown"
    """This cannot be checked here."""


@dataclass(frozen=True)
class Finding:
    """One check's result."""

    verdict: Verdict
    seen: str
    """The facts, in words."""
    key: str = ""
    """The key of the site to set, if one helps."""
    step: str = ""
    """The next step."""
    value: str = ""
    """The value for the key, if known."""


@dataclass(frozen=True)
class Seen:
    """All facts, ready to be judged."""

    executor: str
    """Snakemake's executor: `local`, `slurm`, or another."""
    node: Facts = field(default_factory=dict)
    """From the job on one host."""
    nodes: Facts = field(default_factory=dict)
    """From the job on two hosts."""
    here: Facts = field(default_factory=dict)
    """From the checks where Snakemake runs, by check."""
    lost: Mapping[str, str] = field(default_factory=dict)
    """The reason for each job without facts, by placement."""
    fit: Mapping[str, str] = field(default_factory=dict)
    """How launches of the `tier` fit on Slurm's partition: those that are too `wide`, in words, the experiments with
    launches that are `left_out`, and `most_jobs` in the queue, if a run may have more. Empty without Slurm."""

    nodes_up: Sequence[str] = ()
    """The nodes over which launches could rotate; empty if the site lists some, and without Slurm."""

    def pair(self, look: str) -> tuple[Facts, bool]:
        """The ranks' facts from a check, of the job with the most hosts, and whether these ranks were on two hosts."""
        for facts, apart in ((self.nodes, True), (self.node, False)):
            if found := facts.get("pair", {}).get(look):
                return found, apart
        return {}, False


NO_JOB = Finding(Verdict.UNKNOWN, "no job ran; see the finding `executor`")
NOT_RUN = Finding(Verdict.UNKNOWN, "the check did not run; see the log")
NO_PAIR = Finding(Verdict.UNKNOWN, "no two ranks came up together; see the finding `launcher`")
