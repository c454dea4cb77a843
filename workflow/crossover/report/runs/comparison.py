"""The changes between two runs, in sentences and tables computed from a comparison's own tables."""

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from crossover.records import record
from crossover.report.text import markup, numbers, tables
from crossover.report.text.tables import PANEL, Row, arms, at, competes, grouped, where

MOST_NAMED = 12
"""The most changed curves that the summary lists; the table lists all."""

CURVE = (*PANEL, "arm")
"""The columns that name a curve."""

WORDS = {"code": "crossover's ", "library": "library ", "setting": "setting "}
"""Words before a fact's name, by its kind."""


@dataclass(frozen=True)
class Comparison:
    """The tables of a comparison, as rows."""

    changes: list[Row]
    unpaired: list[Row]
    differences: list[Row]

    @cached_property
    def curves(self) -> list[Row]:
        """The rows on whole curves: those that changed first, the most significant before others."""
        whole = [row for row in self.changes if row["x"] is None]
        return sorted(whole, key=lambda row: (not _differs(row), row["p"]))

    @cached_property
    def _cells(self) -> dict[tuple[str, ...], list[Row]]:
        return grouped((row for row in self.changes if row["x"] is not None), *CURVE)

    def cells(self, curve: Row) -> list[Row]:
        """The rows on the points of a curve."""
        return self._cells.get(tuple(curve[name] for name in CURVE), [])

    @property
    def competing(self) -> list[Row]:
        """The curves of arms that compete."""
        return [row for row in self.curves if competes(row)]

    @property
    def changed(self) -> list[Row]:
        """The competing curves that differ, the most significant first."""
        return list(filter(_differs, self.competing))

    @property
    def bound(self) -> str:
        """The largest change that counts as the same."""
        return f"±{numbers.percent(self.changes[0]['within'] - 1)}" if self.changes else "the bounds"


def load(folder: Path) -> Comparison:
    """Read the tables of a comparison. Raises record.RecordError."""
    schemas = record.schemas("changes unpaired differences")
    return Comparison(
        *(
            tables.harmless(record.read(folder / f"{name}.parquet", schema).to_pylist())
            for name, schema in schemas.items()
        )
    )


def summary(found: Comparison) -> str:
    """The number of changed curves, the curves, and how far to trust this."""
    changed = found.changed
    named = [f"- {sentence(found, row)}" for row in changed[:MOST_NAMED]]
    if len(changed) > MOST_NAMED:
        named.append(f"- {len(changed) - MOST_NAMED} more: see @sec-changes.")
    paragraphs = [_tally(found), "\n".join(named), f"{_chance(found)} {_null(found.curves)}"]
    whole = sum(row["x"] is None for row in found.unpaired)
    counts = {"curve": whole, "point": len(found.unpaired) - whole}
    if alone := [numbers.counted(count, noun) for noun, count in counts.items() if count]:
        paragraphs.append(f"{numbers.listed(alone)} could not be compared: see @sec-unpaired.")
    return "\n\n".join(filter(None, paragraphs))


def _tally(found: Comparison) -> str:
    curves = found.competing
    counts = Counter(row["verdict"] for row in curves)
    words = {
        "better": "better",
        "worse": "worse",
        "mixed": "better at some points and worse at others",
        "same": f"the same within {found.bound}",
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
        points = numbers.counted(len(found.cells(row)), "point")
        parts.append(
            f"over {points} its ratio is typically {_times(row)} times the earlier one "
            f"({numbers.significant(row['before'])} before, {numbers.significant(row['after'])} after)"
        )
    parts.append(_points(found, row))
    if row["equivalent"]:
        parts.append(f"as a whole it is within {found.bound}")
    return f"{'; '.join(filter(None, parts))}."


def _points(found: Comparison, row: Row) -> str:
    """The number of points with a significant change, and the point with the largest."""
    counts = _counts(found, row)
    clauses = [f"{word} at {counts[word]} of its points" for word in ("better", "worse") if counts[word]]
    if not clauses:
        return "no single point shows this by itself"
    most = max(filter(_differs, found.cells(row)), key=lambda cell: abs(math.log(cell["change"])))
    return f"{numbers.listed(clauses)}, most at {at(most)}: {_times(most)} times"


def _counts(found: Comparison, row: Row) -> Counter[str]:
    return Counter(cell["verdict"] for cell in found.cells(row))


def in_a_terminal(found: Comparison) -> str:
    """The tally, the changed curves, and the differences between the runs, without Markdown."""
    named = [f"  {sentence(found, row)}" for row in found.changed]
    return markup.plain("\n".join([_tally(found), *named, differences(found)]))


def lines(found: Comparison) -> list[dict[str, str]]:
    """A line for each arm's curve, those that changed first."""
    return [
        {
            "experiment": f"`{row['experiment']}`",
            "metric, protocol": where(row),
            "arms": arms(row),
            **{end: "–" if row[end] is None else numbers.significant(row[end]) for end in ("before", "after")},
            "after ÷ before": _times(row),
            "verdict": row["verdict"] if min(row["launches_before"], row["launches_after"]) > 1 else "not replicated",
            "points: better, worse, same": f"{', '.join(str(counts[each]) for each in ('better', 'worse', 'same'))} "
            f"of {counts.total()}",
        }
        for row in found.competing
        for counts in [_counts(found, row)]
    ]


def differences(found: Comparison) -> str:
    """The differences between the runs that can explain a change, in a sentence."""
    named = [_difference(row) for row in found.differences if row["kind"] != "run"]
    return f"The runs differ in {numbers.listed(named) or 'no recorded fact'}."


def folder(found: Comparison, label: str) -> str:
    """The folder of the run `before` or `after`, and the days of its launches if they differ."""
    facts = {row["name"]: row[label] for row in found.differences if row["kind"] == "run"}
    days = f" ({facts['days']})" if facts.get("days") else ""
    return f"`{facts['folder']}`{days}"


def _difference(row: Row) -> str:
    old, new = (row[label] or "–" for label in ("before", "after"))
    name = row["name"].replace("_", " ") if row["kind"] == "machine" else row["name"]
    return f"{WORDS.get(row['kind'], '')}{name} ({old} before, {new} after)"


def unpaired(found: Comparison) -> str:
    """Curves and points that only one run has, by reason."""
    items = []
    for (experiment, run, reason), rows in grouped(found.unpaired, "experiment", "run", "reason").items():
        named = numbers.listed([f"`{arm}`" for arm in sorted({row["arm"] for row in rows})])
        count = numbers.counted(len(rows), "curve" if rows[0]["x"] is None else "point")
        which = run if run == "both" else f"the run {run}"
        items.append(f"- `{experiment}`, {count} of {named}, in {which}: {reason}.")
    return "\n".join(items) or "Nothing: both runs measured the same curves and points."


def _differs(row: Row) -> bool:
    return row["verdict"] in ("better", "worse", "mixed")


def _times(row: Row) -> str:
    return "–" if row["change"] is None else numbers.ratio(row["change"], row["low"], row["high"])
