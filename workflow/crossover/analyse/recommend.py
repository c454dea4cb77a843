"""From the joined tables of a run to the settings that it recommends, each with the reason where it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from crossover import failure, record
from crossover.analyse.curves import curves
from crossover.analyse.decide import decide
from crossover.analyse.panels import Panel, panels
from crossover.analyse.settings import SETTINGS, Setting
from crossover.analyse.toml import toml

Row = dict[str, Any]

FILE = "recommended.toml"
"""The file in the results folder that says to people and programs what the table says."""

READ = {
    "medians": record.MEDIANS,
    "thresholds": record.THRESHOLDS,
    "sensitivity": record.SENSITIVITY,
    "launches": record.LAUNCHES,
}
"""The joined tables that the recommendations are made from."""


def recommend(results: Path) -> None:
    """Write `recommendations.parquet` and FILE beside the joined tables in `results`.

    A setting that cannot be decided, because that fails or a table of its experiment did, is not recommended for this
    reason, which the metadata keep too. Raises record.RecordError for a table that is missing, damaged or of another
    version.
    """
    tables = {name: record.read(results / f"{name}.parquet", schema).to_pandas() for name, schema in READ.items()}
    broken = [each for name in READ for each in failure.of(results / f"{name}.parquet")]
    every = cache(lambda: _panels(**tables))
    rows, failures = [], []
    for setting in SETTINGS:
        with failure.caught("setting", setting.name, setting.experiment) as failed:
            failure.require(broken, [setting.experiment], READ)
            rows += list(_of_setting(setting, every(), tables["launches"]))
        rows += [_known(setting) | {"reason": f"failed: {failure.reason(each)}"} for each in failed]
        failures += failed
    frame = pd.DataFrame(rows, columns=record.RECOMMENDATIONS.names)
    table = pa.Table.from_pandas(frame, record.RECOMMENDATIONS, preserve_index=False)
    record.write(table, results / "recommendations.parquet", failure.stored(failures))
    (results / FILE).write_text(toml(table.to_pylist()), encoding="utf-8")


def recommendations(
    medians: pd.DataFrame,
    thresholds: pd.DataFrame,
    sensitivity: pd.DataFrame,
    launches: pd.DataFrame,
    settings: Sequence[Setting] = SETTINGS,
) -> Iterator[Row]:
    """The rows of record.RECOMMENDATIONS, in the order of `settings`, from the joined tables of a run."""
    every = _panels(medians, thresholds, sensitivity, launches)
    for setting in settings:
        yield from _of_setting(setting, every, launches)


def _panels(
    medians: pd.DataFrame, thresholds: pd.DataFrame, sensitivity: pd.DataFrame, launches: pd.DataFrame
) -> list[Panel]:
    return list(panels(curves(medians), thresholds, sensitivity, launches))


def _of_setting(setting: Setting, every: Sequence[Panel], launches: pd.DataFrame) -> Iterator[Row]:
    told = [panel.facts | row for panel in every if _speaks(panel, setting) for row in decide(setting, panel)]
    yield from (_known(setting) | row for row in told or [{"reason": _absence(setting, launches)}])


def _known(setting: Setting) -> Row:
    """The columns that the setting itself fills."""
    return {
        "library": setting.library,
        "setting": setting.name,
        "about": setting.about,
        "experiment": setting.experiment,
        "metric": setting.metric,
        "recommended": False,
    }


def _speaks(panel: Panel, setting: Setting) -> bool:
    """Whether a setting is decided by this panel, among others."""
    names = (panel.facts["experiment"], panel.facts["metric"])
    return names == (setting.experiment, setting.metric) and bool(re.match(setting.protocols, panel.facts["protocol"]))


def _absence(setting: Setting, launches: pd.DataFrame) -> str:
    """Why there is nothing at all to decide a setting by."""
    own = launches[launches["experiment"] == setting.experiment]
    if own.empty:
        return f"not measured: `{setting.experiment}` is not part of this run"
    if (own["outcome"] == "hole").all():
        return f"not measured: every launch left a hole ({', '.join(sorted(set(own['hole'])))})"
    return "not measured: none of the curves that would tell is part of this run"
