"""The point of a curve from which each arm reaches a level, such as an efficiency of 90 %."""

import json
from pathlib import Path
from typing import Any

from crossover.analyse.estimates.curve import curves
from crossover.analyse.tables import writer
from crossover.query import question, rivals
from crossover.report.base import numbers
from crossover.report.base.tables import Panel
from crossover.report.sentences import thresholds

Row = dict[str, Any]


def reached(results: Path, panel: Panel, level: float) -> list[Row]:
    """From where each arm of a panel reaches a level: rows of record.THRESHOLDS. Empty without medians."""
    medians = rivals.kept(results, "medians")
    if medians is None:
        return []
    own = rivals.of_panel(medians, panel, panel.arms).to_pandas().assign(levels=json.dumps([level]))
    return list(writer.thresholds(list(curves(own))))


def told(row: Row, name: str) -> str:
    """One of these rows in words."""
    words = thresholds.reached(row).replace("**", "")
    level = f"{row['metric']} of at least {numbers.percent(row['level'])}"
    return f"{question.quoted(row['arm'])} ({name}): {level} {words}"
