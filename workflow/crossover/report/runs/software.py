"""The facts of runs (code, machine, libraries, settings), and the differences between two runs."""

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
"""Kinds of facts, in the order of a table, and the word before a fact's name."""

EXPECTED = ("when", "launches")
"""Kinds of facts that always differ and so explain no change."""

UNKNOWN = "–"


@dataclass(frozen=True)
class Fact:
    """One fact of two runs."""

    kind: str
    name: str
    before: str
    after: str

    @property
    def differs(self) -> bool:
        """Whether the two runs differ in this fact."""
        return self.before != self.after

    @property
    def title(self) -> str:
        """The fact's name in a table."""
        return f"{KINDS[self.kind]} {self.name.replace('_', ' ') if self.kind == 'machine' else self.name}".strip()


def facts(runs: list[Row], before: str, after: str) -> list[Fact]:
    """All facts of the two runs of these labels, in the order of KINDS."""
    values = {(row["run"], row["kind"], row["name"]): row["value"] for row in runs if row["value"]}
    names = sorted({(kind, name) for _, kind, name in values}, key=lambda key: (list(KINDS).index(key[0]), key[1]))
    return [
        Fact(kind, name, *(values.get((run, kind, name), UNKNOWN) for run in (before, after)))
        for kind, name in names
        if any((run, kind, name) in values for run in (before, after))
    ]


def differences(runs: list[Row], before: str, after: str) -> str:
    """The differences between two runs, apart from time, as a clause."""
    found = [fact for fact in facts(runs, before, after) if fact.differs and fact.kind not in EXPECTED]
    if not found:
        return "no recorded fact"
    return numbers.listed([f"{fact.title} ({fact.before} before, {fact.after} after)" for fact in found])


def lines(runs: list[Row], before: str, after: str) -> list[list[str]]:
    """A table of two runs: all facts except settings that agree; differences are in bold."""
    return [
        [fact.title, *(f"**{value}**" if fact.differs else value for value in (fact.before, fact.after))]
        for fact in facts(runs, before, after)
        if fact.differs or fact.kind != "setting"
    ]


def folder(runs: list[Row], label: str) -> str:
    """The folder of the run of this label."""
    return next(str(row["folder"]) for row in runs if row["run"] == label)
