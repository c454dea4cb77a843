"""The facts of runs (code, machine, libraries, settings), and the differences between two runs."""

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


def facts(runs: list[Row], before: str, after: str) -> list[tuple[str, str, str, str]]:
    """All facts of the two runs of these labels, in the order of KINDS: kind, title, value before, value after."""
    values = {(row["run"], row["kind"], row["name"]): row["value"] for row in runs if row["value"]}
    names = {(kind, name) for run, kind, name in values if run in (before, after)}
    found = []
    for kind, name in sorted(names, key=lambda key: (list(KINDS).index(key[0]), key[1])):
        title = f"{KINDS[kind]} {name.replace('_', ' ') if kind == 'machine' else name}".strip()
        old, new = (values.get((run, kind, name), "–") for run in (before, after))
        found.append((kind, title, old, new))
    return found


def differences(runs: list[Row], before: str, after: str) -> str:
    """The differences between two runs, apart from time, as a clause."""
    found = [
        f"{title} ({old} before, {new} after)"
        for kind, title, old, new in facts(runs, before, after)
        if old != new and kind not in EXPECTED
    ]
    return numbers.listed(found) or "no recorded fact"


def lines(runs: list[Row], before: str, after: str) -> list[dict[str, str]]:
    """A table of two runs: all facts except settings that agree; differences are in bold."""
    return [
        {"fact": title, "before": f"**{old}**" if old != new else old, "after": f"**{new}**" if old != new else new}
        for kind, title, old, new in facts(runs, before, after)
        if old != new or kind != "setting"
    ]


def folder(runs: list[Row], label: str) -> str:
    """The folder of the run of this label."""
    return next(str(row["folder"]) for row in runs if row["run"] == label)
