"""The course of every curve through many runs, in sentences and tables computed from a history's own tables."""

from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from crossover.records import record
from crossover.report.base import markup, numbers, tables
from crossover.report.base.tables import Row, arms, competes, grouped, where
from crossover.report.runs import software

CURVE = ("experiment", "placement", "metric", "protocol", "arm")


Course = list[Row]
"""One arm's ratio to its reference through the runs that have it: rows of record.HISTORY, in order of time."""


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
        return [course for course in self.courses if competes(course[0])]

    @property
    def labels(self) -> list[str]:
        """The runs in order of time."""
        return sorted({row["run"] for row in self.runs}, key=int)


def load(folder: Path) -> History:
    """Read the tables of a history. Raises record.RecordError."""
    rows = tables.harmless(record.read(folder / "history.parquet", record.HISTORY).to_pylist())
    every = grouped(sorted(rows, key=itemgetter(*CURVE, "number")), *CURVE).values()
    courses, left_out = ([each for each in every if bool(each[-1]["cells"]) is kept] for kept in (True, False))
    return History(courses, tables.harmless(record.read(folder / "runs.parquet", record.RUNS).to_pylist()), left_out)


def shifts(course: Course) -> list[int]:
    """The positions at which the level shifts."""
    return [position for position, row in enumerate(course) if row["changed"]]


def summary(found: History) -> str:
    """The number of curves that shifted, the runs at which they did, and how far to trust this."""
    every, runs = found.competing, numbers.counted(len(found.labels), "run")
    if every:
        changed = [course for course in every if shifts(course)]
        curves = numbers.counted(len(every), "curve")
        tally = f"{len(changed)} of {curves} of an arm against its reference shifted within {runs}."
        named = [f"- {sentence(found, course, position)}" for course in changed for position in shifts(course)]
        parts = [tally, "\n".join(named), _trust(found)]
    else:
        parts = [f"No curve of an arm can be followed through these {runs}."]
    if found.left_out:
        left = numbers.listed([f"{arms(course[0])} in {where(course[0])}" for course in found.left_out])
        parts.append(f"Left out, because no point was measured by every launch of the runs: {left}.")
    return "\n\n".join(filter(None, parts))


def _trust(found: History) -> str:
    null = [course for course in found.courses if course[0]["null"]]
    expected = numbers.significant(record.SIGNIFICANCE * len(found.competing), 2)
    count = numbers.counted(len(found.competing), "curve")
    by_chance = f"If nothing had changed, at most about {expected} of {count} would appear to shift by chance."
    if not null:
        return f"{by_chance} No null arm is in these runs."
    wrong = sum(bool(shifts(course)) for course in null)
    return (
        f"{by_chance} Of {numbers.counted(len(null), 'null arm')}, whose ratio cannot change, "
        f"{wrong} {'appears' if wrong == 1 else 'appear'} to shift."
    )


def sentence(found: History, course: Course, position: int) -> str:
    """One shift of one curve, and the differences between the runs before and after it."""
    before, row = course[position - 1], course[position]
    factor = row["level"] / before["level"]
    word = "better" if (factor > 1) == (row["better"] == "higher") else "worse"
    reasons = software.differences(found.runs, before["run"], row["run"])
    day = str(row["began_utc"])[:10] or "at an unknown time"
    return (
        f"{arms(row)} in {where(row)} is **{word}** from run {row['number']} on (started {day}): "
        f"{numbers.significant(before['level'])} before, {numbers.significant(row['level'])} after, a factor of "
        f"{numbers.significant(factor)}. Run {row['number']} differs from run {before['number']} in {reasons}."
    )


def in_a_terminal(found: History) -> str:
    """The same as `summary`, without Markdown."""
    return markup.plain(summary(found)).replace("\n\n", "\n")


def run_lines(found: History) -> list[dict[str, str]]:
    """A line for each run."""
    values = {(row["run"], row["kind"], row["name"]): row["value"] for row in found.runs}
    return [
        {
            "run": label,
            "folder": software.folder(found.runs, label),
            "days": values.get((label, "when", "days"), "–"),
            "launches measured": values.get((label, "launches", "measured"), "–"),
            "differs from the run before in": software.differences(found.runs, before, label) if before else "–",
        }
        for before, label in zip(["", *found.labels], found.labels, strict=False)
    ]


def lines(found: History, experiment: str) -> list[dict[str, str]]:
    """A line for each arm's curve of an experiment."""
    return [
        {
            "metric, protocol": where(course[0]),
            "arms": arms(course[0]),
            "runs": str(len(course)),
            "first": numbers.ratio(*(course[0][name] for name in ("ratio", "low", "high"))),
            "last": numbers.ratio(*(course[-1][name] for name in ("ratio", "low", "high"))),
            "levels": _levels(course),
        }
        for course in found.competing
        if course[0]["experiment"] == experiment
    ]


def _levels(course: Course) -> str:
    """Each level with the run at which it began."""
    begun = [course[position] for position in (0, *shifts(course))]
    said = [f"{numbers.significant(row['level'])} from run {row['number']}" for row in begun]
    return "; ".join(said) if len(said) > 1 else "one"
