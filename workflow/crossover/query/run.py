"""A finished run: its answers, tables and charts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from crossover.config import published, tiers
from crossover.errors import CrossoverError
from crossover.experiments import declared, leads, of, subject
from crossover.query import answers, question
from crossover.query.answers import Answer, Chosen, Value, answer
from crossover.query.contents import Contents
from crossover.records import run_tables
from crossover.records.outcome import OPEN
from crossover.records.rows import Choice, Recommendation, Threshold
from crossover.report.text import more, numbers, recommendations, tables
from crossover.report.text.tables import Panel, panel_key, panel_names

if TYPE_CHECKING:
    import altair as alt

QUERIED = ("launches", "summary", "ratios", "crossovers", "thresholds", "choices")
"""The tables behind answers and charts."""

WIDTH = 480
"""Of charts in pixels, because a notebook's cell has no width of its own."""


class Run:
    """A finished run, read from its folder of results; an experiment that was measured alone since has its new tables.

    Keys of curves, such as `transport`, are arguments by name: those of docs/data.md, and `placement`.
    """

    def __init__(self, results: str | Path = "results") -> None:
        self.results = Path(results)
        if not (self.results / "ratios.parquet").exists() and not run_tables.newer(self.results):
            raise CrossoverError(
                f"{self.results}: has no results of a finished run; start one: make report, or name another folder"
            )

    def ask(
        self,
        experiment: str,
        at: float | str,
        *,
        metric: str | None = None,
        arm: str | None = None,
        than: str | None = None,
        **keys: object,
    ) -> pd.DataFrame:
        """Each arm's ratio to the reference at one point of the axis, one row per arm: the facts of `crossover ask`.

        `at` is a number in the axis's unit, or a text such as "40kB". `metric` is by default the experiment's leading
        one, `arm` every rival, and `than` the reference. Raises CrossoverError for a question that no curve or several
        answer, and for a point outside the measured axis.
        """
        return pd.DataFrame([each.row for each in self.answers(experiment, at, metric, arm, keys, than)])

    def choose(self, experiment: str, at: float | str, *, metric: str | None = None, **keys: object) -> pd.DataFrame:
        """The arm to choose at one point of the axis, in one row: the facts of `crossover ask`.

        Arguments as for `ask`. Raises CrossoverError likewise, and if no choice could be made there.
        """
        found = self.choice(experiment, at, metric, keys)
        if found is None:
            raise CrossoverError(
                f"no choice was made there: fewer than two arms of {experiment} have an interval, or nobody chooses by "
                "this metric"
            )
        return pd.DataFrame([found.row])

    def choice(self, experiment: str, at: object, metric: str | None, keys: Mapping[str, object]) -> Chosen | None:
        """The choice at one point of one curve; None if there is none. Raises CrossoverError as `ask`."""
        panel, name, rows = self._curve(experiment, metric, keys)
        x = question.amount(at, panel.facts.axis_unit)
        return answers.chosen(name, rows, x) if rows else None

    def choices(self) -> pd.DataFrame:
        """The table of choices."""
        return self._table("choices")

    def thresholds(self) -> pd.DataFrame:
        """The table of thresholds: from which point on an arm reaches a level, such as an efficiency of 95 %."""
        return self._table("thresholds")

    def ratios(self) -> pd.DataFrame:
        """The table of ratios."""
        return self._table("ratios")

    def crossovers(self) -> pd.DataFrame:
        """The table of crossovers."""
        return self._table("crossovers")

    def settings(self) -> pd.DataFrame:
        """The table of recommended settings. Raises CrossoverError if an experiment was measured alone since."""
        run_tables.require_joined(self.results)
        return self._table("recommendations")

    def chart(
        self, experiment: str, *, metric: str | None = None, ratios: bool = False, **keys: object
    ) -> alt.LayerChart | alt.VConcatChart:
        """The report's chart of an experiment: the arms' values along the axis, or their `ratios` to the reference.

        If several curves have these keys, their charts are below each other.
        """
        # Altair takes half a second to load, which no other question needs.
        from crossover.report.charts import figures

        metric = metric or self._metric(experiment, keys)
        datasets, draw = published.read(), figures.ratio if ratios else figures.curve
        panels = self._chosen(experiment, metric, keys)
        drawn = [draw(panel, datasets) for panel in panels if (panel.near_ratios if ratios else panel.values)]
        if not drawn:
            raise CrossoverError("no such curve has a value to draw; choose another metric or other keys")
        for each in drawn:
            each.width = WIDTH
        return drawn[0] if len(drawn) == 1 else _stacked(drawn)

    def answers(
        self,
        experiment: str,
        at: object,
        metric: str | None,
        arm: str | None,
        keys: Mapping[str, object],
        than: str | None = None,
    ) -> list[Answer]:
        """The answers of `ask`, one per arm."""
        measured, name, _ = self._curve(experiment, metric, keys)
        x = question.amount(at, measured.facts.axis_unit)
        panel = self._against(measured, arm, than)
        arms = dict.fromkeys(row.arm for row in panel.ratios) if than else _arms(panel, arm)
        found = [answer(panel, each, name, x, measured.reference) for each in arms]
        if not any(each.cells for each in found):
            low, high = min(each.ends[0] for each in found), max(each.ends[1] for each in found)
            here, *ends = (numbers.quantity(place, panel.facts.axis_unit) for place in (x, low, high))
            raise CrossoverError(
                f"{here} is outside the measured axis; the {panel.facts.axis} of {experiment} is from {ends[0]} to "
                f"{ends[1]}"
            )
        return found

    def value(self, experiment: str, at: object, arm: str, metric: str | None, keys: Mapping[str, object]) -> Value:
        """The value of one arm at a point. Raises the errors of `ask`."""
        panel, name, rows = self._curve(experiment, metric, keys)
        return answers.value(panel, arm, name, question.amount(at, panel.facts.axis_unit), rows)

    def reached(self, experiment: str, level: float, keys: Mapping[str, object]) -> list[tuple[Threshold, str]]:
        """From where each arm reaches a level of a metric that has levels, each row with the name of its curve."""
        metrics = [metric.name for metric in of(experiment).metrics if metric.levels]
        if not metrics:
            others = [name for name, each in declared().items() if any(metric.levels for metric in each.metrics)]
            raise CrossoverError(f"{experiment} has no metric with levels; these have one: {', '.join(others)}")
        # The analysis takes a while to load, which no other question needs.
        from crossover.query import estimates

        panels = self._chosen(experiment, metrics[0], keys)
        names = panel_names(self._panels(experiment, metrics[0]))
        return [
            (row, estimates.reached_in_words(row, names[panel_key(panel)]))
            for panel in panels
            for row in estimates.reached(self.results, panel, level)
            if not row.is_null_arm
        ]

    def _curve(
        self, experiment: str, metric: str | None, keys: Mapping[str, object]
    ) -> tuple[Panel, str, list[Choice]]:
        """The only panel that has these keys, its name, and the choices along it."""
        metric = metric or self._metric(experiment, keys)
        panels = self._chosen(experiment, metric, keys)
        question.require_single(experiment, panels)
        curve = (*panel_key(panels[0]), panels[0].metric)
        name = panel_names(self._panels(experiment, metric))[panel_key(panels[0])]
        return panels[0], name, [row for row in self._tables.choices if row.curve == curve]

    def _against(self, panel: Panel, arm: str | None, than: str | None) -> Panel:
        """The panel with ratios to the arm `than`, of one arm or of all that compete, if one is given."""
        if than is None:
            return panel
        # The analysis takes a while to load, which no other question needs.
        from crossover.query import estimates

        return estimates.against(self.results, panel, *estimates.arms_to_compare(panel, arm, than))

    def settling(self, found: Chosen) -> str | None:
        """The line that says how to settle an open choice; None for a settled one."""
        if found.verdict != OPEN:
            return None
        left = [(row.launches, row.launches_needed) for row in found.rows if row.verdict == OPEN]
        denser = "a point between the two would settle it: a denser axis in config/config.yaml measures one"
        return more.remedy(self._tables, found.rows[0].experiment, left) or denser

    def remedy(self, found: Answer) -> str | None:
        """The line that says how to decide an open answer; None for one that is decided."""
        # More launches give no interval to an answer to which none contributes.
        left = [cell for cell in found.cells if cell.launches and cell.verdict == OPEN]
        experiment = found.panel.experiment
        return more.remedy(self._tables, experiment, [(cell.launches, cell.launches_needed) for cell in left])

    def recommended(self, setting: str, keys: Mapping[str, object]) -> list[tuple[Recommendation, str]]:
        """The recommendations for a setting by its name, each with the name of its question."""
        run_tables.require_joined(self.results)
        every = [*map(Recommendation.of, run_tables.read(self.results, "recommendations").to_pylist())]
        question.one_of("setting", setting, (row.setting for row in every))
        own = question.matching(setting, [row for row in every if row.setting == setting], keys)
        names = recommendations.question_names(self._tables)
        return [(row, recommendations.question_name(row, names)) for row in own]

    def experiments(self) -> list[str]:
        """The experiments that have a measured curve."""
        return sorted({row.experiment for row in self._tables.summary})

    def titles(self) -> dict[str, str]:
        """The subjects of these experiments, by their names."""
        return {name: subject(name) for name in self.experiments()}

    def contents(self, experiment: str, metric: str | None, keys: Mapping[str, object]) -> Contents:
        """The possible questions to the curves of an experiment that have these keys."""
        leading = self._tables.panels(experiment, leads().get(experiment))
        metric = metric or self._metric(experiment, keys)
        chosen = self._chosen(experiment, metric, keys)
        metrics = list(dict.fromkeys(panel.metric for panel in leading))
        return Contents(chosen, self._panels(experiment, metric), metrics)

    @cached_property
    def _tables(self) -> tables.Tables:
        return tables.load(self.results, QUERIED)

    def _table(self, name: str) -> pd.DataFrame:
        frame: pd.DataFrame = run_tables.read(self.results, name).to_pandas()
        return frame

    def _panels(self, experiment: str, metric: str | None) -> list[Panel]:
        """The panels of one metric of an experiment: of its leading one, or the first if that was not measured."""
        if experiment not in self.experiments() and (tier := tiers.first(experiment)):
            raise CrossoverError(f"{experiment}: is not in this run; tier {tier} measures it: make report TIER={tier}")
        question.one_of("experiment", experiment, self.experiments())
        every = self._tables.panels(experiment, metric or leads().get(experiment))
        if metric is not None:
            question.one_of("metric", metric, (panel.metric for panel in every))
        return [panel for panel in every if panel.metric == every[0].metric]

    def _metric(self, experiment: str, keys: Mapping[str, object]) -> str | None:
        """The first metric by which users choose that has a curve with these keys, if the leading one has none."""
        others: list[str] = [*declared()[experiment].questions] if experiment in declared() else []
        for metric in (None, *others):
            with suppress(CrossoverError):
                self._chosen(experiment, metric, keys)
                return metric
        return None

    def _chosen(self, experiment: str, metric: str | None, keys: Mapping[str, object]) -> list[Panel]:
        """The panels of the metric that have these keys."""
        return question.matching(experiment, self._panels(experiment, metric), keys)


def _arms(panel: Panel, arm: str | None) -> list[str]:
    """An arm that has ratios, or all rivals that do. Raises CrossoverError without any."""
    if arm is None and panel.compared:
        return panel.compared
    compared = {row.arm for row in panel.ratios}
    if arm in (None, panel.reference):
        fault = f"{panel.reference} is the reference of all ratios" if arm else "no rival has a ratio"
        others = question.listed(sorted(compared)) or "none is measured"
        raise CrossoverError(f"{fault}; choose another arm{', or one with --than' if arm else ''}: {others}")
    return [question.arm_of(panel.experiment, str(arm), compared)]


def _stacked(drawn: Sequence[alt.LayerChart]) -> alt.VConcatChart:
    import altair as alt

    config = drawn[0].config
    for each in drawn:
        # Vega-Lite takes both from the outermost chart only.
        each.config = each.usermeta = alt.Undefined
    with warnings.catch_warnings():
        # One choice of arms and one zoom for all charts are wanted, and Altair warns of them.
        warnings.filterwarnings("ignore", "Automatically deduplicated", UserWarning)
        stacked: alt.VConcatChart = alt.vconcat(*drawn).resolve_scale(color="independent", shape="independent")
    stacked.config = config
    return stacked
