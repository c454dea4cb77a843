"""The changes between two runs, from a comparison's own tables: sentences, tables, and a chart.

`ComparisonPage` has the output of the code cells of `reports/changes.qmd`.
"""

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import altair as alt

from crossover.records import record
from crossover.report.charts import figures, gallery, marks
from crossover.report.charts.arm_styles import ARMS, INK, NOISE
from crossover.report.pages.parts import AnyPage, part, sentence
from crossover.report.text import markup, numbers, tables
from crossover.report.text.tables import PANEL, Row, arms, at, competes, grouped, where

BLUE, ORANGE, GREEN, PINK = ARMS[:4]
COLOURS = {"better": GREEN, "worse": ORANGE, "mixed": PINK, "same": BLUE, "open": NOISE}
ROW_HEIGHT = 50
"""Pixels for the name of a curve, in two lines, and its interval below."""

MOST_DRAWN = 40
"""The most curves in the chart: those that changed, then those that most nearly did."""

NAME = "changes"
"""The name of the chart's files."""

SUBTITLE = "typical change of each arm's ratio to its reference over the points; shaded: the same"

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


class ComparisonPage(AnyPage):
    """The page on one comparison, with the tables in `folder`."""

    def __init__(self, folder: Path | None = None):
        super().__init__(folder, "compare BEFORE AFTER")
        self.found = load(self.folder)

    @part()
    def summary(self) -> str:
        """The page in a few sentences."""
        return summary(self.found)

    @sentence
    def before(self) -> str:
        """The folder of the first run."""
        return markup.plain(run_folder(self.found, "before"))

    @sentence
    def after(self) -> str:
        """The folder of the second run."""
        return markup.plain(run_folder(self.found, "after"))

    @sentence
    def bound(self) -> str:
        """The largest change that counts as the same."""
        return self.found.bound

    @part()
    def differences(self) -> str:
        """The differences between the runs."""
        return differences(self.found)

    @part()
    def chart(self) -> str:
        """The changes of the curves, with their intervals."""
        rows = drawn(self.found)
        if not rows:
            return ""
        description = f"Chart of the changes of {numbers.counted(len(rows), 'curve')}, with intervals."
        caption = (
            "The typical change of each arm's ratio to its reference, over its points. Lines are intervals over "
            f"launches, the shaded band is {self.found.bound}."
        )
        if more := len(self.found.competing) - len(rows):
            caption += f" {numbers.counted(more, 'more curve')} of the table: no interval, or further from a change."
        return gallery.alone(self.folder / "figures", NAME, caption, SUBTITLE, description, {})

    @part()
    def curves(self) -> str:
        """All curves, those that changed first."""
        return markup.table(curve_lines(self.found))

    @part()
    def unpaired(self) -> str:
        """The curves and points that could not be compared, with the reasons."""
        return unpaired(self.found)


def draw(folder: Path) -> None:
    """Write the chart of the comparison in `folder` to its `figures`, as `figures.save_all` does."""
    rows = drawn(load(folder))
    figures.save_all({NAME: partial(chart, rows)} if rows else {}, folder / "figures")


def drawn(found: Comparison) -> list[Row]:
    """The curves in the chart."""
    return [row for row in found.competing if row["low"] is not None][:MOST_DRAWN]


def chart(rows: list[Row]) -> alt.LayerChart:
    """The typical change of each curve over its points, with its interval; the range of equivalence is shaded."""
    points = [
        {name: row[name] for name in ("experiment", "arm", "change", "low", "high", "verdict")}
        | {
            "where": where(row),
            "curve": f"{row['experiment']}: {row['arm']}\n{where(row)}",
            "is": numbers.ratio(row["change"], row["low"], row["high"]),
        }
        for row in rows
    ]
    within = rows[0]["within"]
    low = min(1 / within, *(point["low"] for point in points)) / 1.02
    high = max(within, *(point["high"] for point in points)) * 1.02
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(values=marks.log_ticks(low, high), format="~g", labelOverlap="greedy")
    heading = "ratio after ÷ ratio before"
    x = alt.X("change:Q", scale=scale, axis=axis, title=heading)
    # Names are above the intervals, because beside them they would take half the width of a column.
    y = alt.Y("curve:N", axis=None, sort=None, scale=alt.Scale(paddingOuter=0))
    colours = alt.Scale(domain=list(COLOURS), range=[colour.light for colour in COLOURS.values()])
    colour = alt.Color("verdict:N", scale=colours, legend=marks.legend(list(COLOURS)))
    tips = [*marks.tips({"curve": "curve", "is": "change"}), alt.Tooltip("verdict:N")]
    base = alt.Chart().encode(y=y, color=colour, tooltip=tips)
    bounds = alt.Chart(alt.Data(values=[{"low": 1 / within, "high": within}]))
    line = alt.Chart(alt.Data(values=[{"one": 1}]))
    named = alt.Chart().mark_text(align="left", baseline="bottom", dy=-10, lineBreak="\n", color=INK.light)
    layers = [
        bounds.mark_rect(opacity=1, fillOpacity=0.1, color=NOISE.light).encode(
            x=alt.X("low:Q", scale=scale), x2="high:Q"
        ),
        line.mark_rule(strokeDash=[5, 4], color=NOISE.light).encode(x="one:Q"),
        base.mark_rule(strokeWidth=2, yOffset=12).encode(x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q"),
        base.mark_point(filled=True, size=60, opacity=1, yOffset=12).encode(x=x),
        named.encode(x=alt.value(0), y=y, text="curve:N"),
    ]
    columns = [(field, field) for field in ("experiment", "arm", "low", "high", "verdict")]
    columns[2:2] = [("metric, protocol", "where"), (heading, "change")]
    return figures.finished(layers, points, columns, "Changes", SUBTITLE, ROW_HEIGHT * len(points) + 10)


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
    named = [f"- {change_sentence(found, row)}" for row in changed[:MOST_NAMED]]
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
    null = [row for row in curves if row["is_null_arm"]]
    if not null:
        return "No null arm is in both runs."
    wrong = sum(_differs(row) for row in null)
    known = [abs(math.log(row["change"])) for row in null if row["change"]]
    most = f"; the largest of their changes is {numbers.percent(math.expm1(max(known)))}" if known else ""
    return (
        f"Of {numbers.counted(len(null), 'null arm')}, whose ratio cannot change, {wrong} "
        f"{'appears' if wrong == 1 else 'appear'} changed{most}."
    )


def change_sentence(found: Comparison, row: Row) -> str:
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
    named = [f"  {change_sentence(found, row)}" for row in found.changed]
    return markup.plain("\n".join([_tally(found), *named, differences(found)]))


def curve_lines(found: Comparison) -> list[dict[str, str]]:
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


def run_folder(found: Comparison, label: str) -> str:
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
