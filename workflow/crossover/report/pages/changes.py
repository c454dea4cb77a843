"""The changes between two runs, in the terminal, from a comparison's own tables."""

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from crossover.records import record
from crossover.records.rows import Change, Difference
from crossover.report.text import markup, numbers, tables
from crossover.report.text.tables import PANEL, competes, grouped, where

CURVE = (*PANEL, "arm")
"""The columns that name a curve."""

WORDS = {"code": "crossover's ", "library": "library ", "setting": "setting "}
"""Words before a fact's name, by its kind."""


@dataclass(frozen=True)
class Comparison:
    """The tables of a comparison, as rows."""

    changes: list[Change]
    differences: list[Difference]

    @cached_property
    def curves(self) -> list[Change]:
        """The rows on whole curves of arms that compete, the most significant first."""
        whole = (row for row in self.changes if row.x is None and competes(row))
        return sorted(whole, key=lambda row: row.p or 0.0)

    @cached_property
    def _cells(self) -> dict[tuple[str, ...], list[Change]]:
        return grouped((row for row in self.changes if row.x is not None), *CURVE)

    def cells(self, curve: Change) -> list[Change]:
        """The rows on the points of a curve."""
        return self._cells.get(tuple(getattr(curve, name) for name in CURVE), [])

    @property
    def bound(self) -> str:
        """The largest change that counts as the same."""
        within = self.changes[0].within if self.changes else None
        return "the bounds" if within is None else f"±{numbers.percent(within - 1)}"


def load(folder: Path) -> Comparison:
    """Read the tables of a comparison. Raises record.RecordError."""
    schemas = record.schemas("changes differences")
    changes, facts = (
        tables.harmless(record.read(folder / f"{name}.parquet", schema)) for name, schema in schemas.items()
    )
    return Comparison([*map(Change.of, changes)], [*map(Difference.of, facts)])


def _tally(found: Comparison) -> str:
    counts = Counter(row.verdict for row in found.curves)
    words = {
        "better": "better",
        "worse": "worse",
        "mixed": "better at some points and worse at others",
        "same": f"the same within {found.bound}",
        "open": "open",
    }
    parts = [f"**{counts[verdict]} {text}**" for verdict, text in words.items() if counts[verdict]]
    return f"Of {numbers.counted(len(found.curves), 'curve')} of an arm against its reference, {numbers.listed(parts)}."


def change_sentence(found: Comparison, row: Change) -> str:
    """The change of one curve."""
    now = "better and worse" if row.verdict == "mixed" else row.verdict
    parts = [f"`{row.arm}` against `{row.reference}` is **{now}** in {where(row)}"]
    if row.change is not None and row.before and row.after:
        points = numbers.counted(len(found.cells(row)), "point")
        parts.append(
            f"over {points} its ratio is typically {_times(row)} times the earlier one "
            f"({numbers.significant(row.before)} before, {numbers.significant(row.after)} after)"
        )
    parts.append(_points(found, row))
    if row.equivalent:
        parts.append(f"as a whole it is within {found.bound}")
    return f"{'; '.join(filter(None, parts))}."


def _points(found: Comparison, row: Change) -> str:
    """The number of points with a significant change, and the point with the largest."""
    counts = Counter(cell.verdict for cell in found.cells(row))
    clauses = [f"{word} at {counts[word]} of its points" for word in ("better", "worse") if counts[word]]
    if not clauses:
        return "no single point shows this by itself"
    most = max(filter(_differs, found.cells(row)), key=lambda cell: abs(math.log(cell.change or 1)))
    assert most.x is not None, "a point of the curve"
    return f"{numbers.listed(clauses)}, most at {numbers.quantity(most.x, most.axis_unit)}: {_times(most)} times"


def in_a_terminal(found: Comparison) -> str:
    """The tally, the changed curves, and the differences between the runs, without Markdown."""
    named = [f"  {change_sentence(found, row)}" for row in filter(_differs, found.curves)]
    return markup.plain("\n".join([_tally(found), *named, differences(found)]))


def differences(found: Comparison) -> str:
    """The differences between the runs that can explain a change, in a sentence."""
    named = [_difference(row) for row in found.differences if row.kind != "run"]
    return f"The runs differ in {numbers.listed(named) or 'no recorded fact'}."


def _difference(row: Difference) -> str:
    old, new = (fact or "–" for fact in (row.before, row.after))
    name = row.name.replace("_", " ") if row.kind == "machine" else row.name
    return f"{WORDS.get(row.kind, '')}{name} ({old} before, {new} after)"


def _differs(row: Change) -> bool:
    return row.verdict in ("better", "worse", "mixed")


def _times(row: Change) -> str:
    return "–" if row.change is None else numbers.ratio(row.change, row.low, row.high)
