"""Recommends settings from the joined tables of a run; a setting without a recommendation has a reason."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from crossover.analyse.advice.rules import decide
from crossover.analyse.advice.settings import SETTINGS
from crossover.analyse.advice.toml import toml
from crossover.analyse.curves.curve import PANEL, Row, curves
from crossover.analyse.estimators.question import Question, questions
from crossover.design.advice import Setting
from crossover.design.settings import read_settings
from crossover.planning import receipt
from crossover.records import atomic, failure, holes, record

FILE = "recommended.toml"
"""The file in the results folder with the table's content, for people and programs."""

READ = record.schemas("medians choices launches")
"""The joined tables behind the recommendations."""

SMOKE = "a smoke run tests the workflow; it has too few launches for advice"

Chosen = Mapping[tuple[str, ...], Mapping[float, str]]
"""The run's choice at each point, by the columns PANEL of its question."""


def recommend(results: Path) -> None:
    """Write `recommendations.parquet` and FILE beside the joined tables in `results`.

    If the decision on a setting fails, or a table of its experiment did, the setting is not recommended, with the
    reason in the table and its metadata. Raises record.RecordError for a table that is missing, damaged or of another
    version.
    """
    medians, choices, launches = (record.read(results / f"{name}.parquet", schema) for name, schema in READ.items())
    broken = [each for name in READ for each in failure.of(results / f"{name}.parquet")]
    measured = launches.to_pylist()
    if receipt.tiers(measured) == ["smoke"]:
        return _write(results, [_unanswered(setting, SMOKE) for setting in SETTINGS], [])
    every = cache(lambda: list(questions(list(curves(medians.to_pandas())), measured)))
    chosen = _chosen(choices.to_pylist())
    rows, failures = [], []
    for setting in SETTINGS:
        with failure.caught("setting", setting.name, setting.experiment) as failed:
            failure.require(broken, [setting.experiment], READ)
            rows += list(recommendations(setting, every(), chosen, measured))
        rows += [_unanswered(setting, f"failed: {failure.reason(each)}") for each in failed]
        failures += failed
    return _write(results, rows, failures)


def _write(results: Path, rows: list[Row], failures: list[failure.Failure]) -> None:
    table = record.from_rows(rows, record.RECOMMENDATIONS)
    record.write(table, results / "recommendations.parquet", failure.stored(failures))
    with atomic.replacing(results / FILE) as part:
        part.write_text(toml(table.to_pylist()), encoding="utf-8")


def _chosen(choices: Sequence[Row]) -> Chosen:
    found: dict[tuple[str, ...], dict[float, str]] = {}
    for row in choices:
        found.setdefault(tuple(row[name] for name in PANEL), {})[row["x"]] = row["choice"]
    return found


def recommendations(
    setting: Setting, every: Sequence[Question], chosen: Chosen, launches: Sequence[Row]
) -> Iterator[Row]:
    """The rows of record.RECOMMENDATIONS for one setting: one per question that has its default and another arm."""
    arms = (setting.default, *setting.values)
    asked = [own for question in every if (own := question.of(arms)).arms]
    decided = [question for question in asked if setting.default in question.arms and len(question.arms) > 1]
    for question in decided:
        known = chosen.get(tuple(question.facts[name] for name in PANEL), {})
        yield {**_known(setting), **question.facts, **decide(setting, question, known)}
    if not decided:
        yield _unanswered(setting, f"not measured: {_absence(setting, asked, launches)}")


def _absence(setting: Setting, asked: Sequence[Question], launches: Sequence[Row]) -> str:
    """Why no question has the default and another arm."""
    if missing := holes.why(launches, setting.experiment):
        return missing
    found = {arm for question in asked if question.facts["experiment"] == setting.experiment for arm in question.arms}
    own = {row["settings"] for row in launches if row["experiment"] == setting.experiment}
    configured = {arm for text in own for arm in read_settings(text).get("arms", [])}
    named = [arm for arm in (setting.default, *setting.values) if arm not in found]
    why = "has no value here" if configured & {*named} else "is not among the arms of this run's configuration"
    return f"{' or '.join(f'`{arm}`' for arm in named)} {why}"


def _known(setting: Setting) -> Row:
    return {"library": setting.library, "setting": setting.name, "about": setting.about, "recommended": False}


def _unanswered(setting: Setting, reason: str) -> Row:
    return _known(setting) | {"experiment": setting.experiment, "default": setting.default, "reason": reason}
