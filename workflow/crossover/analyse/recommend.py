"""From the joined tables of a run to the settings that it recommends, each with the reason where it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from crossover import record
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

    Raises record.RecordError for a table that is missing, damaged or of another version.
    """
    tables = {name: record.read(results / f"{name}.parquet", schema).to_pandas() for name, schema in READ.items()}
    frame = pd.DataFrame(recommendations(**tables), columns=record.RECOMMENDATIONS.names)
    table = pa.Table.from_pandas(frame, record.RECOMMENDATIONS, preserve_index=False)
    record.write(table, results / "recommendations.parquet")
    (results / FILE).write_text(toml(table.to_pylist()), encoding="utf-8")


def recommendations(
    medians: pd.DataFrame,
    thresholds: pd.DataFrame,
    sensitivity: pd.DataFrame,
    launches: pd.DataFrame,
    settings: Sequence[Setting] = SETTINGS,
) -> Iterator[Row]:
    """The rows of record.RECOMMENDATIONS, in the order of `settings`, from the joined tables of a run."""
    every = list(panels(curves(medians), thresholds, sensitivity, launches))
    for setting in settings:
        known = {
            "library": setting.library,
            "setting": setting.name,
            "about": setting.about,
            "experiment": setting.experiment,
            "metric": setting.metric,
            "recommended": False,
        }
        told = [panel.facts | row for panel in every if _speaks(panel, setting) for row in decide(setting, panel)]
        yield from (known | row for row in told or [{"reason": _absence(setting, launches)}])


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
