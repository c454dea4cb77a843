"""Estimates that no table has, by the analysis: the ratio of any two arms, and from where an arm reaches a level.

Each launch has its own ratio of two arms: the median over rounds, as in the table of ratios, whose functions estimate
it here too. The quotient of two ratios to the reference has no interval, because the two share the reference's chance.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from crossover.analyse.estimates import curve
from crossover.analyse.estimates.curve import curves
from crossover.analyse.tables import writer
from crossover.errors import CrossoverError
from crossover.query import question
from crossover.records import record, run_tables
from crossover.records.outcome import BETTER, OPEN, WORSE
from crossover.records.rows import Ratio, Threshold
from crossover.report.text import tables
from crossover.report.text.tables import PANEL, Panel


def against(results: Path, panel: Panel, than: str, arms: Sequence[str]) -> Panel:
    """The panel with the ratios of `arms` to the arm `than`, which becomes its reference, at the points of both.

    Where no launch measured both, the ratio is the quotient of their ratios to the reference: it has no interval, and
    0 launches. Possible bias is always that of the reference's null arm. Raises CrossoverError without a common point.
    """
    rivals = [arm for arm in arms if arm != panel.reference]
    paired = _paired(results, panel, than, rivals) if rivals else {}
    others = {row.x: row for row in panel.ratios_of(than)}
    found = [
        paired.get((row.arm, row.x)) or _of_kind(_quotient(row, others[row.x]), panel, than)
        for row in panel.ratios
        if row.arm in rivals and row.x in others
    ]
    inverted = [_inverted(row) for row in others.values()] if panel.reference in arms else []
    if not (ratios := [*found, *inverted]):
        names = question.listed([*arms, than])
        raise CrossoverError(f"{names} have no measured point in common; choose another arm for --arm or --than")
    return replace(panel, ratios=ratios)


def reached(results: Path, panel: Panel, level: float) -> list[Threshold]:
    """From where each arm of a panel reaches a level. Empty without medians."""
    if not run_tables.exists(results, "medians"):
        return []
    # The levels beside it bound an open one.
    levels = sorted({level, *LEVELS})
    own = curves(of_panel(run_tables.read(results, "medians"), panel, panel.arms).to_pandas())
    asked = [replace(curve, facts=curve.facts | {"levels": levels}) for curve in own]
    rows = map(Threshold.of, writer.thresholds(asked))
    return [row for row in rows if row.level == level]


LEVELS = [step / 20 for step in range(1, 20)]
"""The levels that bound an open one."""


def _inverted(row: Ratio) -> Ratio:
    """The ratio of the reference to an arm, from that of the arm to the reference."""
    return replace(
        row, arm=row.reference, reference=row.arm, ratio=1 / row.ratio, low=row.high and 1 / row.high,
        high=row.low and 1 / row.low, verdict={BETTER: WORSE, WORSE: BETTER}.get(row.verdict, row.verdict),
    )  # fmt: skip


def _quotient(row: Ratio, other: Ratio) -> Ratio:
    """The ratio of two arms by their ratios to the reference, for which there is no interval."""
    return replace(
        row, reference=other.arm, ratio=row.ratio / other.ratio, low=None, high=None, launches=0, launches_needed=None,
        verdict=OPEN,
    )  # fmt: skip


def _of_kind(row: Ratio, panel: Panel, than: str) -> Ratio:
    """The ratio to the arm `than`; that with a null arm or a ceiling is none of rivals, and has no verdict."""
    null, ceiling = panel.null in (row.arm, than), not {row.arm, than}.isdisjoint(panel.ceilings)
    return replace(row, is_null_arm=null, ceiling=ceiling, verdict="" if null or ceiling else row.verdict)


def _paired(results: Path, panel: Panel, than: str, arms: Sequence[str]) -> dict[tuple[str, float], Ratio]:
    """The rows of ratios to `than`, by arm and point, from the launches that measured both; none without launches."""
    if not run_tables.exists(results, "medians"):
        return {}
    medians = run_tables.read(results, "medians")
    nulls = medians.filter(pc.and_(medians["is_null_arm"], pc.equal(medians["experiment"], panel.experiment)))
    made = _medians(results, panel, medians, than, {than, *arms})
    # A null arm would count as one of `than` here.
    own = made[made["arm"].isin(arms)].assign(is_null_arm=False, ceiling=False)
    rows = writer.FROM_CURVES["ratios"]([*curves(own), *curves(nulls.to_pandas())])
    table = pa.Table.from_pandas(pd.DataFrame(rows, columns=record.RATIOS.names), record.RATIOS, preserve_index=False)
    return {
        (row.arm, row.x): _of_kind(row, panel, than)
        for row in map(Ratio.of, tables.harmless(table))
        if row.reference == than and row.arm in arms
    }


def _medians(results: Path, panel: Panel, medians: pa.Table, than: str, arms: Collection[str]) -> pd.DataFrame:
    """The medians of `arms` with ratios to `than`: over rounds, or where blocks were not kept, by each launch's
    ratios to the reference."""
    parts = []
    for path in run_tables.raw_files(results, panel.experiment):
        blocks = of_panel(record.read(path, record.MEASUREMENTS), panel, arms)
        column = blocks.schema.get_field_index("reference")
        blocks = blocks.set_column(column, blocks.schema.field(column), pa.repeat(than, blocks.num_rows))
        if blocks:
            parts.append(curve.medians(curve.blocks(blocks)))
    return pd.concat(parts) if parts else _by_launch(of_panel(medians, panel, arms).to_pandas(), than)


def of_panel(table: pa.Table, panel: Panel, arms: Collection[str]) -> pa.Table:
    """The rows of some arms of a panel."""
    wanted = pc.is_in(table["arm"], pa.array(sorted(arms)))
    for name in PANEL:
        wanted = pc.and_(wanted, pc.equal(table[name], getattr(panel, name)))
    return table.filter(wanted)


def _by_launch(frame: pd.DataFrame, than: str) -> pd.DataFrame:
    """Medians whose `ratio` is each launch's ratio to the reference divided by that of `than`."""
    places = ["launch", "x"]
    other = frame.loc[frame["arm"] == than, [*places, "ratio", "pairs"]]
    both = frame.merge(other, on=places, how="left", suffixes=("", "_than"))
    pairs = np.fmin(both["pairs"], both["pairs_than"])
    return both.assign(reference=than, ratio=both["ratio"] / both["ratio_than"], pairs=pairs)
