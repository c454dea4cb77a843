"""The changes between two runs, in sentences and tables computed from a comparison's own tables."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from crossover.records import record
from crossover.report.base import markup, numbers, tables
from crossover.report.base.tables import PANEL, Row, arms, at, competes, grouped, where

MOST_NAMED = 12
"""The most changed curves that the summary lists; the sections list all."""


@dataclass(frozen=True)
class Comparison:
    """The tables of a comparison, as rows."""

    curves: list[Row]
    """The ratios of record.CURVE_CHANGES."""
    absolute: list[Row]
    """The arms' own values of record.CURVE_CHANGES."""
    cells: list[Row]
    unpaired: list[Row]
    runs: list[Row]

    @property
    def competing(self) -> list[Row]:
        """The curves of arms that compete."""
        return [row for row in self.curves if competes(row)]

    @property
    def changed(self) -> list[Row]:
        """The competing curves that differ, the most significant first."""
        return sorted(filter(_differs, self.competing), key=lambda row: row["p"])


def load(folder: Path) -> Comparison:
    """Read the tables of a comparison. Raises record.RecordError."""
    whole = tables.harmless(record.read(folder / "curve_changes.parquet", record.CURVE_CHANGES).to_pylist())
    return Comparison(
        [row for row in whole if row["quantity"] == "ratio"],
        [row for row in whole if row["quantity"] == "value"],
        tables.harmless(record.read(folder / "changes.parquet", record.CHANGES).to_pylist()),
        tables.harmless(record.read(folder / "unpaired.parquet", record.UNPAIRED).to_pylist()),
        tables.harmless(record.read(folder / "runs.parquet", record.RUNS).to_pylist()),
    )


def summary(found: Comparison) -> str:
    """The number of changed curves, the curves, and how far to trust this."""
    changed = found.changed
    named = [f"- {sentence(found, row)}" for row in changed[:MOST_NAMED]]
    if len(changed) > MOST_NAMED:
        named.append(f"- {len(changed) - MOST_NAMED} more, in the sections below.")
    paragraphs = [_tally(found.competing), "\n".join(named), f"{_chance(found)} {_null(found.curves)}"]
    whole = sum(row["x"] is None for row in found.unpaired)
    counts = {"curve": whole, "point": len(found.unpaired) - whole}
    if alone := [numbers.counted(count, noun) for noun, count in counts.items() if count]:
        paragraphs.append(f"{numbers.listed(alone)} could not be compared: see @sec-unpaired.")
    return "\n\n".join(filter(None, paragraphs))


def _tally(curves: list[Row]) -> str:
    counts = Counter(row["verdict"] for row in curves)
    words = {
        "better": "better",
        "worse": "worse",
        "mixed": "better at some points and worse at others",
        "same": f"the same within {bound(curves)}",
        "open": "open",
    }
    parts = [f"**{counts[verdict]} {text}**" for verdict, text in words.items() if counts[verdict]]
    return f"Of {numbers.counted(len(curves), 'curve')} of an arm against its reference, {numbers.listed(parts)}."


def _chance(found: Comparison) -> str:
    expected = numbers.significant(record.SIGNIFICANCE * len(found.competing), 2)
    count, changed = numbers.counted(len(found.competing), "curve"), found.changed
    chance = f"If nothing had changed, about {expected} of {count} would differ by chance"
    if not changed:
        return f"{chance}."
    left = sum(row["q"] <= record.SIGNIFICANCE for row in changed)
    still = f"still {'does' if left == 1 else 'do'} after correction for their number"
    return f"{chance}; {left} of the {len(changed)} that differ {still}."


def _null(curves: list[Row]) -> str:
    """The apparent changes of the null arms, which cannot change."""
    null = [row for row in curves if row["null"]]
    if not null:
        return "No null arm is in both runs."
    wrong = sum(_differs(row) for row in null)
    known = [abs(math.log(row["change"])) for row in null if row["change"]]
    most = f"; the largest of their changes is {numbers.percent(math.expm1(max(known)))}" if known else ""
    return (
        f"Of {numbers.counted(len(null), 'null arm')}, whose ratio cannot change, {wrong} "
        f"{'appears' if wrong == 1 else 'appear'} changed{most}."
    )


def sentence(found: Comparison, row: Row) -> str:
    """The change of one curve."""
    now = "better and worse" if row["verdict"] == "mixed" else row["verdict"]
    parts = [f"`{row['arm']}` against `{row['reference']}` is **{now}** in {where(row)}"]
    if row["change"] is not None:
        parts.append(
            f"over {numbers.counted(row['cells'], 'point')} its ratio is typically {_times(row)} times the earlier "
            f"one ({numbers.significant(row['before'])} before, {numbers.significant(row['after'])} after)"
        )
    parts.append(_points(found, row))
    if row["equivalent"]:
        parts.append(f"as a whole it is within {bound([row])}")
    return f"{'; '.join(filter(None, parts))}."


def _points(found: Comparison, row: Row) -> str:
    """The number of points with a significant change, and the point with the largest."""
    clauses = [
        f"{word} at {row[f'cells_{word}']} of its points" for word in ("better", "worse") if row[f"cells_{word}"]
    ]
    if not clauses:
        return "no single point shows this by itself"
    sure = [cell for cell in found.cells if _differs(cell) and all(cell[name] == row[name] for name in (*PANEL, "arm"))]
    most = max(sure, key=lambda cell: abs(math.log(cell["change"])))
    return f"{numbers.listed(clauses)}, most at {at(most)}: {_times(most)} times"


def in_a_terminal(found: Comparison) -> str:
    """The tally and the changed curves, without Markdown."""
    named = [f"  {sentence(found, row)}" for row in found.changed]
    return markup.plain("\n".join([_tally(found.competing), *named]))


def lines(found: Comparison, experiment: str) -> list[dict[str, str]]:
    """A line for each arm's curve of an experiment."""
    return [
        {
            "metric, protocol": where(row),
            "arms": arms(row),
            **{end: "–" if row[end] is None else numbers.significant(row[end]) for end in ("before", "after")},
            "after ÷ before": _times(row),
            "verdict": row["verdict"] if min(row["launches_before"], row["launches_after"]) > 1 else "not replicated",
            "points: better, worse, same": f"{row['cells_better']}, {row['cells_worse']}, {row['cells_same']} "
            f"of {row['cells']}",
        }
        for row in found.competing
        if row["experiment"] == experiment
    ]


def absolute_lines(found: Comparison) -> list[dict[str, str]]:
    """A line for each arm's own values."""
    return [
        {
            "experiment": f"`{row['experiment']}`",
            "metric, protocol": where(row),
            "arm": f"`{row['arm']}`",
            **{
                end: "–" if row[end] is None else numbers.quantity(row[end], row["unit"]) for end in ("before", "after")
            },
            "after ÷ before": _times(row),
            "shown to be": f"the same within {bound([row])}" if row["verdict"] == "same" else "nothing",
        }
        for row in found.absolute
        if not row["ceiling"]
    ]


def unpaired(found: Comparison) -> str:
    """Curves and points that only one run has, by reason."""
    items = []
    for (experiment, run, reason), rows in grouped(found.unpaired, "experiment", "run", "reason").items():
        named = numbers.listed([f"`{arm}`" for arm in sorted({row["arm"] for row in rows})])
        count = numbers.counted(len(rows), "curve" if rows[0]["x"] is None else "point")
        which = run if run == "both" else f"the run {run}"
        items.append(f"- `{experiment}`, {count} of {named}, in {which}: {reason}.")
    return "\n".join(items) or "Nothing: both runs measured the same curves and points."


def bound(rows: Sequence[Row]) -> str:
    """The largest change of these curves that counts as the same."""
    return f"±{numbers.percent(rows[0]['within'] - 1)}" if rows else "the bounds"


def _differs(row: Row) -> bool:
    return row["verdict"] in ("better", "worse", "mixed")


def _times(row: Row) -> str:
    return "–" if row["change"] is None else numbers.ratio(row["change"], row["low"], row["high"])
