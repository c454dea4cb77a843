"""Recommends settings from the joined tables of a run; a setting without a recommendation has a reason."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from crossover.analyse.advice.answers import answers
from crossover.analyse.advice.effects import Evidence
from crossover.analyse.advice.settings import SETTINGS, Aim, Setting
from crossover.analyse.advice.toml import toml
from crossover.analyse.curves.curve import curves
from crossover.analyse.curves.panel import Panel, panels
from crossover.records import failure, holes, protocol, record

Row = dict[str, Any]

FILE = "recommended.toml"
"""The file in the results folder with the table's content, for people and programs."""

READ = {
    "medians": record.MEDIANS,
    "thresholds": record.THRESHOLDS,
    "sensitivity": record.SENSITIVITY,
    "launches": record.LAUNCHES,
}
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
    every = cache(lambda: list(panels(curves(medians), thresholds, sensitivity, launches)))
    rows, failures = [], []
    for setting in SETTINGS:
        sound: list[Aim] = []
        for aim in setting.aims:
            with failure.caught("setting", setting.name, aim.experiment) as failed:
                failure.require(broken, [aim.experiment], READ)
                sound.append(aim)
            rows += [_failed(setting, aim, each) for each in failed]
            failures += failed
        with failure.caught("setting", setting.name) as failed:
            rows += list(recommendations(replace(setting, aims=tuple(sound)), every(), launches))
        rows += [_failed(setting, aim, each) for each in failed for aim in sound]
        failures += failed
    frame = pd.DataFrame(rows, columns=record.RECOMMENDATIONS.names)
    table = pa.Table.from_pandas(frame, record.RECOMMENDATIONS, preserve_index=False)
    record.write(table, results / "recommendations.parquet", failure.stored(failures))
    (results / FILE).write_text(toml(table.to_pylist()), encoding="utf-8")


def recommendations(setting: Setting, every: Sequence[Panel], launches: pd.DataFrame) -> Iterator[Row]:
    """The rows of record.RECOMMENDATIONS for one setting, from all panels of a run and its table of launches."""
    by_condition = _by_condition(setting, every)
    for condition, evidence in by_condition.items():
        yield from (_known(setting) | {"condition": condition} | row for row in answers(setting, evidence))
    decided = [each.aim for evidence in by_condition.values() for each in evidence if each.decides]
    for aim in setting.aims:
        if aim not in decided:
            yield _known(setting) | _undecided(aim) | {"reason": _absence(aim, launches)}


def _known(setting: Setting) -> Row:
    """The columns that the setting itself fills."""
    return {"library": setting.library, "setting": setting.name, "about": setting.about, "recommended": False}


def _undecided(aim: Aim) -> Row:
    """The columns of an aim without a decision."""
    return {"experiment": aim.experiment, "metric": aim.metric, "aims": json.dumps([aim.name])}


def _failed(setting: Setting, aim: Aim, failed: failure.Failure) -> Row:
    return _known(setting) | _undecided(aim) | {"reason": f"failed: {failure.reason(failed)}"}


def _by_condition(setting: Setting, every: Sequence[Panel]) -> dict[str, list[Evidence]]:
    """The panels with evidence on a setting, by condition."""
    found: dict[str, list[Evidence]] = {}
    for aim in setting.aims:
        for panel in every:
            known = panel.facts["experiment"] == aim.experiment and protocol.holds(aim.where, panel.facts)
            if known and panel.facts["metric"] in (aim.metric, *aim.beside):
                found.setdefault(_condition(panel, aim), []).append(Evidence(aim, panel))
    return found


def _condition(panel: Panel, aim: Aim) -> str:
    keys = [panel.facts[name] for name in aim.condition] if aim.condition else [panel.facts["protocol"]]
    return ", ".join([panel.facts["placement"], *(str(value) for value in keys if value is not None)])


def _absence(aim: Aim, launches: pd.DataFrame) -> str:
    """The reason if a run has no evidence for this aim."""
    missing = holes.why(launches.to_dict("records"), aim.experiment)
    return f"not measured: {missing or 'none of the curves that decide it is part of this run'}"
