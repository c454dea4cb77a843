"""What runs were made with, and in what two of them differ."""

from __future__ import annotations

from dataclasses import dataclass

from crossover.report.base import numbers
from crossover.report.base.tables import Row

KINDS = {
    "when": "",
    "launches": "launches",
    "code": "crossover's",
    "machine": "",
    "library": "library",
    "setting": "setting",
}
"""Kinds of facts, in the order of a table, and the word that goes before a fact's name."""

EXPECTED = ("when", "launches")
"""Kinds in which runs differ as a matter of course: no reason why anything should have changed."""

NOT_TOLD = "–"


@dataclass(frozen=True)
class Fact:
    """One fact of two runs."""

    kind: str
    name: str
    before: str
    after: str

    @property
    def differs(self) -> bool:
        """Whether the runs differ in it."""
        return self.before != self.after

    @property
    def title(self) -> str:
        """What to call it."""
        return f"{KINDS[self.kind]} {self.name.replace('_', ' ') if self.kind == 'machine' else self.name}".strip()


def facts(runs: list[Row], before: str, after: str) -> list[Fact]:
    """All facts of the two runs of these labels, in the order of KINDS."""
    told = {(row["run"], row["kind"], row["name"]): row["value"] for row in runs if row["value"]}
    names = sorted({(kind, name) for _, kind, name in told}, key=lambda key: (list(KINDS).index(key[0]), key[1]))
    return [
        Fact(kind, name, *(told.get((run, kind, name), NOT_TOLD) for run in (before, after)))
        for kind, name in names
        if any((run, kind, name) in told for run in (before, after))
    ]


def differences(runs: list[Row], before: str, after: str) -> str:
    """In what two runs differ, apart from when they ran, as a clause; says so where it is nothing."""
    found = [fact for fact in facts(runs, before, after) if fact.differs and fact.kind not in EXPECTED]
    if not found:
        return "nothing that they tell of themselves"
    return numbers.listed([f"{fact.title} ({fact.before} before, {fact.after} after)" for fact in found])


def lines(runs: list[Row], before: str, after: str) -> list[list[str]]:
    """A table of two runs: all facts but settings that agree; what differs is in bold."""
    return [
        [fact.title, *(f"**{value}**" if fact.differs else value for value in (fact.before, fact.after))]
        for fact in facts(runs, before, after)
        if fact.differs or fact.kind != "setting"
    ]


def folder(runs: list[Row], label: str) -> str:
    """The folder of the run of this label."""
    return next(str(row["folder"]) for row in runs if row["run"] == label)
