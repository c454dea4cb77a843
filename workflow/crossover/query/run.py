"""A finished run: its answers, tables and charts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from crossover.analyse.curves.curve import Curve, curves
from crossover.config import leads
from crossover.errors import CrossoverError
from crossover.query import deciding, question, settings
from crossover.query.answer import Answer, answer
from crossover.records import record
from crossover.report.base import numbers, questions, tables

if TYPE_CHECKING:
    import altair as alt

Row = dict[str, Any]

PLACE = ["placement", "protocol"]
"""The columns that tell the panels of one metric of an experiment apart."""


class Run:
    """A finished run, read from its folder of results.

    Keys of curves, such as `transport`, are arguments by name: those of docs/data.md, and `placement`.
    """

    def __init__(self, results: str | Path = "results") -> None:
        self.results = Path(results)
        if not (self.results / "medians.parquet").exists():
            raise CrossoverError(
                f"{self.results}: has no medians.parquet, so it is not the results of a finished run; name another "
                "folder, or finish the run first"
            )

    def ask(
        self,
        experiment: str,
        at: float | str,
        *,
        metric: str | None = None,
        arm: str | None = None,
        **keys: object,
    ) -> pd.DataFrame:
        """Each arm's ratio to the reference at one point of the axis, one row per arm: the facts of `crossover ask`.

        `at` is a number in the axis's unit, or a text such as "40kB". `metric` is by default the experiment's leading
        one, and `arm` every rival. Raises CrossoverError for a question that no curve or several answer, and for a
        point outside the measured axis.
        """
        return pd.DataFrame([each.row for each in self.answers(experiment, at, metric, arm, keys)])

    def ratios(self) -> pd.DataFrame:
        """The table of ratios."""
        return self._table("ratios")

    def crossovers(self) -> pd.DataFrame:
        """The table of crossovers."""
        return self._table("crossovers")

    def settings(self) -> pd.DataFrame:
        """The table of recommended settings."""
        return self._table("recommendations")

    def chart(
        self, experiment: str, *, metric: str | None = None, ratios: bool = False, **keys: object
    ) -> alt.LayerChart | alt.VConcatChart:
        """The report's chart of an experiment: the arms' values along the axis, or their `ratios` to the reference.

        If several curves have these keys, their charts are below each other.
        """
        # Altair takes half a second to load, which no other question needs.
        from crossover.query import drawing

        places = {tuple(row[name] for name in PLACE) for row in self._chosen(experiment, metric, keys)}
        metric = self._metric(self._of(experiment), experiment, metric)
        read = (tables.rows(self.results, name) for name in drawing.TABLES)
        return drawing.chart(
            [
                panel
                for panel in tables.panels(*read)
                if (panel.experiment, panel.metric) == (experiment, metric)
                and (panel.placement, panel.protocol) in places
            ],
            ratios,
        )

    def answers(
        self, experiment: str, at: object, metric: str | None, arm: str | None, keys: Mapping[str, object]
    ) -> list[Answer]:
        """The answers of `ask`, one per arm."""
        chosen = question.single(experiment, self._chosen(experiment, metric, keys))
        own = self._of(experiment)
        own = own[own["metric"] == self._metric(own, experiment, metric)]
        name = questions.names(map(_panel, _places(own)))[_name(chosen)]
        of_panel = own[(own[PLACE] == [chosen[column] for column in PLACE]).all(axis=1)]
        x = question.amount(at, chosen["axis_unit"])
        found = [answer(curve, name, x) for curve in _of_arm(list(curves(of_panel)), arm)]
        if all(each.point is None for each in found):
            low, high = min(each.ends[0] for each in found), max(each.ends[1] for each in found)
            here, *ends = (numbers.quantity(place, chosen["axis_unit"]) for place in (x, low, high))
            raise CrossoverError(
                f"{here} is outside the measured axis; the {chosen['axis']} of {experiment} is from {ends[0]} to "
                f"{ends[1]}"
            )
        return found

    def remedy(self, found: Answer) -> str | None:
        """The line that says how to decide an open answer; None for one that is decided."""
        return deciding.remedy(found, self._launches)

    def recommended(self, setting: str, keys: Mapping[str, object]) -> list[Row]:
        """The recommendations for a setting by its name, with values instead of JSON."""
        every = self._read("recommendations").to_pylist()
        question.one_of("setting", setting, (row["setting"] for row in every))
        own = [row for row in every if row["setting"] == setting]
        return [settings.decoded(row) for row in question.matching(setting, own, keys)]

    def experiments(self) -> list[str]:
        """The experiments that have a measured curve."""
        return sorted(self._medians["experiment"].unique())

    def axis(self, experiment: str) -> str:
        """The axis of an experiment, in words."""
        own = self._of(experiment)
        low, high = (numbers.quantity(end, own["axis_unit"].iloc[0]) for end in (own["x"].min(), own["x"].max()))
        return f"{own['axis'].iloc[0]}, {low} to {high}"

    @cached_property
    def _medians(self) -> pd.DataFrame:
        return self._table("medians")

    @cached_property
    def _launches(self) -> pd.DataFrame:
        return self._table("launches")

    def _table(self, name: str) -> pd.DataFrame:
        frame: pd.DataFrame = self._read(name).to_pandas()
        return frame

    def _read(self, name: str) -> Any:
        return record.read(self.results / f"{name}.parquet", record.schemas(name)[name])

    def _of(self, experiment: str) -> pd.DataFrame:
        question.one_of("experiment", experiment, self._medians["experiment"])
        return self._medians[self._medians["experiment"] == experiment]

    def _metric(self, own: pd.DataFrame, experiment: str, metric: str | None) -> str:
        """The metric that is asked for; by default the leading one, or the first if that was not measured."""
        measured = sorted(own["metric"].unique())
        if metric is None:
            lead = leads.leads().get(experiment, "")
            return lead if lead in measured else str(measured[0])
        return question.one_of("metric", metric, measured)

    def _chosen(self, experiment: str, metric: str | None, keys: Mapping[str, object]) -> list[Row]:
        """A row of each panel of the metric that has these keys."""
        own = self._of(experiment)
        own = own[own["metric"] == self._metric(own, experiment, metric)]
        return question.matching(experiment, _places(own), keys)


def _places(own: pd.DataFrame) -> list[Row]:
    """A row of each panel."""
    rows = own.drop_duplicates(PLACE).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


def _panel(row: Row) -> tables.Panel:
    """A panel without its numbers, for its name."""
    return tables.Panel(row["experiment"], row["metric"], row["protocol"], row["placement"], [], [row], [])


def _name(row: Row) -> questions.Name:
    return questions.name(_panel(row))


def _of_arm(every: list[Curve], arm: str | None) -> list[Curve]:
    """The curve of an arm that has ratios, or of all rivals. Raises CrossoverError without any."""
    compared = {curve.facts["arm"]: curve for curve in every if (curve.ratios == curve.ratios).any()}
    rivals = [name for name, curve in compared.items() if curve.competes]
    if arm is None and rivals:
        return [compared[name] for name in rivals]
    reference = every[0].facts["reference"]
    if arm in (None, reference):
        fault = f"{reference} is the reference of all ratios" if arm else "no rival has a ratio"
        raise CrossoverError(f"{fault}; choose another arm: {', '.join(sorted(compared)) or 'none is measured'}")
    return [compared[question.one_of("arm", str(arm), compared)]]
