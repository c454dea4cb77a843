"""Recommends settings from the joined tables of a run; a setting without a recommendation has a reason."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pandas as pd

from crossover.analyse.advice.effects import Evidence, contradicts, effects, serves
from crossover.analyse.advice.rules import decide
from crossover.analyse.advice.settings import SETTINGS
from crossover.analyse.advice.toml import toml
from crossover.analyse.curves.curve import Row, curves
from crossover.analyse.curves.panel import Panel, panels
from crossover.design import protocol
from crossover.design.advice import Aim, Setting
from crossover.design.protocol import TRANSPORTS
from crossover.planning import receipt
from crossover.records import atomic, failure, holes, record

FILE = "recommended.toml"
"""The file in the results folder with the table's content, for people and programs."""

READ = record.schemas("medians thresholds sensitivity launches")
"""The joined tables behind the recommendations."""


def recommend(results: Path) -> None:
    """Write `recommendations.parquet` and FILE beside the joined tables in `results`.

    If the decision on a setting fails, or a table of an aim's experiment did, the setting is not recommended, with the
    reason in the table and its metadata. Raises record.RecordError for a table that is missing, damaged or of another
    version.
    """
    medians, thresholds, sensitivity, launches = (
        record.read(results / f"{name}.parquet", schema).to_pandas() for name, schema in READ.items()
    )
    broken = [each for name in READ for each in failure.of(results / f"{name}.parquet")]
    if receipt.tiers(launches.to_dict("records")) == ["smoke"]:
        return _write(results, [_unanswered(setting, aim, SMOKE) for setting in SETTINGS for aim in setting.aims], [])
    every = cache(lambda: list(panels(curves(medians), thresholds, sensitivity, launches)))
    rows, failures = [], []
    for setting in SETTINGS:
        sound: list[Aim] = []
        for aim in setting.aims:
            with failure.caught("setting", setting.name, aim.experiment) as failed:
                failure.require(broken, [aim.experiment], READ)
                sound.append(aim)
            rows += [_unanswered(setting, aim, f"failed: {failure.reason(each)}") for each in failed]
            failures += failed
        with failure.caught("setting", setting.name) as failed:
            rows += list(recommendations(replace(setting, aims=tuple(sound)), every(), launches))
        rows += [_unanswered(setting, aim, f"failed: {failure.reason(each)}") for each in failed for aim in sound]
        failures += failed
    return _write(results, rows, failures)


SMOKE = "a smoke run tests the workflow; it has too few launches for advice"


def _write(results: Path, rows: list[Row], failures: list[failure.Failure]) -> None:
    table = record.from_rows(rows, record.RECOMMENDATIONS)
    record.write(table, results / "recommendations.parquet", failure.stored(failures))
    with atomic.replacing(results / FILE) as part:
        part.write_text(toml(table.to_pylist()), encoding="utf-8")


def recommendations(setting: Setting, every: Sequence[Panel], launches: pd.DataFrame) -> Iterator[Row]:
    """The rows of record.RECOMMENDATIONS for one setting, from all panels of a run and its table of launches."""
    by_condition = _by_condition(setting, every)
    for condition, evidence in by_condition.items():
        yield from (_known(setting) | {"condition": condition} | row for row in _answers(setting, evidence))
    decided = [each.aim for evidence in by_condition.values() for each in evidence if each.decides]
    for aim in setting.aims:
        if aim not in decided:
            missing = holes.why(launches.to_dict("records"), aim.experiment)
            reason = missing or "none of the curves that decide it is part of this run"
            yield _unanswered(setting, aim, f"not measured: {reason}")


def _known(setting: Setting) -> Row:
    return {"library": setting.library, "setting": setting.name, "about": setting.about, "recommended": False}


def _unanswered(setting: Setting, aim: Aim, reason: str) -> Row:
    of_aim = {"experiment": aim.experiment, "metric": aim.metric, "aims": json.dumps([aim.name])}
    return _known(setting) | of_aim | {"reason": reason}


def _by_condition(setting: Setting, every: Sequence[Panel]) -> dict[str, list[Evidence]]:
    found: dict[str, list[Evidence]] = {}
    for aim in setting.aims:
        for panel in every:
            known = panel.facts["experiment"] == aim.experiment and protocol.holds(aim.where, panel.facts)
            if known and panel.facts["metric"] in (aim.metric, *aim.beside):
                values = [panel.facts[name] for name in ("placement", *(aim.condition or ["protocol"]))]
                condition = ", ".join(str(value) for value in values if value is not None)
                found.setdefault(condition, []).append(Evidence(aim, panel))
    return dict(sorted(found.items(), key=lambda entry: _reach(entry[1][0].panel)))


def _reach(panel: Panel) -> int:
    """The place of a panel's transport among protocol.TRANSPORTS; last without one."""
    transport = panel.facts.get("transport")
    return TRANSPORTS.index(transport) if transport in TRANSPORTS else len(TRANSPORTS)


def _answers(setting: Setting, evidence: Sequence[Evidence]) -> Iterator[Row]:
    """The rows of a setting under one condition, in the order of its aims: one for all aims that agree (docs/data.md,
    "Rules for recommendations")."""
    found = [
        (each, each.panel.facts | row | {"aims": json.dumps([each.aim.name])})
        for each in evidence
        if each.decides
        for row in decide(setting, each.panel)
    ]
    joined: list[int] = []
    for number, (own, row) in enumerate(found):
        if number in joined:
            continue
        if not row.get("recommended"):
            yield row
            continue
        changed = list(effects(setting, row, own, evidence))
        aims = [own.aim.name]
        for later in range(number + 1, len(found)):
            other, its = found[later]
            if later in joined or not _same(row, its):
                continue
            contrary = contradicts(setting.rule, row["arm"], json.loads(row["value"]), other.panel)
            if not contrary and any(serves(effect, other) for effect in changed):
                joined.append(later)
                aims.append(other.aim.name)
        yield row | {"aims": json.dumps(list(dict.fromkeys(aims))), "effects": json.dumps(changed)}


def _same(row: Row, other: Row) -> bool:
    """Whether two recommended values agree: the same choice, or points whose intervals overlap."""
    if not other.get("recommended") or row["arm"] != other["arm"]:
        return False
    if row.get("x") is None:
        return bool(row["value"] == other["value"])
    ends = [(each["low"] or 0.0, each["high"]) for each in (row, other)]
    return bool(max(low for low, _ in ends) <= min(high for _, high in ends))
