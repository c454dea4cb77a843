"""The course of every curve through many runs, in sentences and tables computed from a history's own tables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from crossover.records import record
from crossover.report.base import markup, numbers
from crossover.report.base.tables import Row, competes, title
from crossover.report.runs import software

CURVE = ("experiment", "placement", "metric", "protocol", "arm")


@dataclass(frozen=True)
class Course:
    """One arm's ratio to its reference through the runs that have it."""

    rows: list[Row]
    """Rows of record.HISTORY, in order of time."""

    @property
    def facts(self) -> Row:
        """Any row, for the names and the reference, which all rows share."""
        return self.rows[-1]

    @property
    def competes(self) -> bool:
        """Whether this is neither a null arm nor a ceiling."""
        return competes(self.facts)

    @property
    def changes(self) -> list[int]:
        """The positions in `rows` at which the level shifts."""
        return [position for position, row in enumerate(self.rows) if row["changed"]]

    @property
    def title(self) -> str:
        """Metric and protocol, with the placement unless it is `node`."""
        return f"{self.facts['metric']}, {title(self.facts['protocol'], self.facts['placement'])}"

    @property
    def arms(self) -> str:
        """The arm and its reference."""
        return f"`{self.facts['arm']}` / `{self.facts['reference']}`"


@dataclass(frozen=True)
class History:
    """The tables of a history."""

    courses: list[Course]
    runs: list[Row]
    left_out: list[Course]
    """Curves that cannot be followed, because no point was measured by every launch of their runs."""

    @property
    def competing(self) -> list[Course]:
        """The courses of arms."""
        return [course for course in self.courses if course.competes]

    @property
    def experiments(self) -> list[str]:
        """The experiments with any arm that can be followed."""
        return sorted({course.facts["experiment"] for course in self.competing})

    @property
    def labels(self) -> list[str]:
        """The runs in order of time."""
        return sorted({row["run"] for row in self.runs}, key=int)


def load(folder: Path) -> History:
    """Read the tables of a history.

    Raises record.RecordError for a table that is missing, damaged or of another version.
    """
    rows = record.read(folder / "history.parquet", record.HISTORY).to_pylist()

    def curve(row: Row) -> tuple[str, ...]:
        return tuple(row[name] for name in CURVE)

    rows.sort(key=lambda row: (curve(row), row["number"]))
    every = [Course(list(own)) for _, own in groupby(rows, curve)]
    courses = [each for each in every if each.facts["cells"]]
    runs = record.read(folder / "runs.parquet", record.RUNS).to_pylist()
    return History(courses, runs, [each for each in every if not each.facts["cells"]])


def summary(found: History) -> str:
    """The number of curves that shifted, the runs at which they did, and how far to trust this."""
    every = found.competing
    if not every:
        none = f"No curve of an arm can be followed through these {numbers.counted(len(found.labels), 'run')}."
        return "\n\n".join(filter(None, [none, _left_out(found)]))
    changed = [course for course in every if course.changes]
    tally = (
        f"{len(changed)} of {numbers.counted(len(every), 'curve')} of an arm against its reference shifted within "
        f"{numbers.counted(len(found.labels), 'run')}."
    )
    named = [f"- {sentence(found, course, position)}" for course in changed for position in course.changes]
    return "\n\n".join(filter(None, [tally, "\n".join(named), _trust(found), _left_out(found)]))


def _left_out(found: History) -> str:
    if not found.left_out:
        return ""
    named = numbers.listed([f"{course.arms} in {course.title}" for course in found.left_out])
    return f"Left out, because no point was measured by every launch of the runs: {named}."


def _trust(found: History) -> str:
    null = [course for course in found.courses if course.facts["null"]]
    wrong = sum(bool(course.changes) for course in null)
    expected = numbers.significant(record.SIGNIFICANCE * len(found.competing), 2)
    count = numbers.counted(len(found.competing), "curve")
    by_chance = f"If nothing had changed, at most about {expected} of {count} would appear to shift by chance."
    if not null:
        return f"{by_chance} No null arm is in these runs."
    return (
        f"{by_chance} Of {numbers.counted(len(null), 'null arm')}, whose ratio cannot change, "
        f"{wrong} {'appears' if wrong == 1 else 'appear'} to shift."
    )


def sentence(found: History, course: Course, position: int) -> str:
    """One shift of one curve, and the differences between the runs before and after it."""
    before, row = course.rows[position - 1], course.rows[position]
    factor = row["level"] / before["level"]
    word = "better" if (factor > 1) == (row["better"] == "higher") else "worse"
    reasons = software.differences(found.runs, before["run"], row["run"])
    return (
        f"{course.arms} in {course.title} is **{word}** from run {row['number']} on (started {_day(row)}): "
        f"{numbers.significant(before['level'])} before, {numbers.significant(row['level'])} after, a factor of "
        f"{numbers.significant(factor)}. Run {row['number']} differs from run {before['number']} in {reasons}."
    )


def in_a_terminal(found: History) -> str:
    """The same as `summary`, without Markdown."""
    return markup.plain(summary(found)).replace("\n\n", "\n")


RUNS = ["run", "folder", "days", "launches measured", "differs from the run before in"]


def run_lines(found: History) -> list[list[str]]:
    """A line for each run, under RUNS."""
    lines = []
    values = {(row["run"], row["kind"], row["name"]): row["value"] for row in found.runs}
    for before, label in zip(["", *found.labels], found.labels, strict=False):
        reasons = software.differences(found.runs, before, label) if before else "–"
        facts = (values.get((label, *key), "–") for key in (("when", "days"), ("launches", "measured")))
        lines.append([label, software.folder(found.runs, label), *facts, reasons])
    return lines


CURVES = ["metric, protocol", "arms", "runs", "first", "last", "levels"]


def lines(found: History, experiment: str) -> list[list[str]]:
    """A line for each arm's curve of an experiment, under CURVES."""
    return [
        [
            course.title,
            course.arms,
            str(len(course.rows)),
            *(numbers.ratio(row["ratio"], row["low"], row["high"]) for row in (course.rows[0], course.rows[-1])),
            _levels(course),
        ]
        for course in found.competing
        if course.facts["experiment"] == experiment
    ]


def _levels(course: Course) -> str:
    """Each level with the run at which it began."""
    begun = [course.rows[position] for position in (0, *course.changes)]
    if len(begun) == 1:
        return "one"
    return "; ".join(f"{numbers.significant(row['level'])} from run {row['number']}" for row in begun)


def _day(row: Row) -> str:
    return str(row["began_utc"])[:10] or "at an unknown time"
