"""What is found: of which check, how bad, what was seen, and what to set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Facts = Mapping[str, Any]
"""What a look saw. A job's has the looks of its ranks under `pair`; empty where there was no look."""


class Verdict(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARNING = "warning"
    """Launches run, but what is measured may suffer or be incomplete."""
    PROBLEM = "problem"
    """Launches do not run, or not those of this kind."""
    UNTOLD = "not told"
    """It cannot be told here."""


@dataclass(frozen=True)
class Finding:
    """One check's result."""

    verdict: Verdict
    seen: str
    key: str = ""
    """The key of the site to set, where one helps."""
    step: str = ""
    """What to do next."""
    value: str = ""
    """What to set the key to, where that was found out."""


@dataclass(frozen=True)
class Seen:
    """All that there is to judge by."""

    executor: str
    """How Snakemake runs jobs: `local`, `slurm`, or another of its executors."""
    node: Facts = field(default_factory=dict)
    """From the job on one host."""
    nodes: Facts = field(default_factory=dict)
    """From the job on two hosts."""
    here: Facts = field(default_factory=dict)
    """From where Snakemake runs, by check."""
    lost: Mapping[str, str] = field(default_factory=dict)
    """Why there is nothing of a job that was asked for, by its placement."""

    @property
    def local(self) -> bool:
        """Whether this one host is all there is."""
        return self.executor == "local"

    def pair(self, look: str) -> tuple[Facts, bool]:
        """What the ranks of the widest job saw that has it; and whether these were on two hosts."""
        for facts, apart in ((self.nodes, True), (self.node, False)):
            if found := facts.get("pair", {}).get(look):
                return found, apart
        return {}, False


NO_PAIR = Finding(Verdict.UNTOLD, "no two ranks came up together; see launcher")
