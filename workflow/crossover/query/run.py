"""A finished run: its answers, tables and charts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crossover.config.amount import amount, fits
from crossover.design.experiments import declared, leads, subject
from crossover.design.settings import TIERS
from crossover.errors import CrossoverError
from crossover.query import answers, index, question
from crossover.query.answers import Answer, Value, answer
from crossover.query.chosen import Chosen
from crossover.query.index import Index, Match
from crossover.records import record, run_tables
from crossover.records.outcome import OPEN
from crossover.records.rows import Recommendation, Threshold
from crossover.report.text import choices, findings, holes, more, numbers, recommendations, tables
from crossover.report.text.choices import Question
from crossover.report.text.tables import Panel, PanelKey, panel_key, panel_names, plain_first
from crossover.report.tournament import words as tournaments
from crossover.report.tournament.words import Tournament

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    from pyarrow.dataset import Dataset

QUERIED = ("launches", "summary", "ratios", "crossovers", "thresholds", "choices", "pairs")
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
        words: str,
        at: float | str,
        *,
        metric: str | None = None,
        arm: str | None = None,
        than: str | None = None,
        **keys: object,
    ) -> pd.DataFrame:
        """Each arm's ratio to the reference at one point of the axis, one row per curve and arm.

        `words` name curves as in `crossover ask`: an experiment, or words such as "zmq tcp". `at` is a number in the
        axis's unit, or a text such as "40kB". `metric` is by default the one by which users choose, `arm` every rival,
        and `than` the reference. Raises CrossoverError for words that no curve has, and for a point outside the
        measured axis of all arms.
        """
        found = self._told(words, at, metric, keys)
        return _frame([each.row for each in self.answers(found, arm, than)])

    def choose(self, words: str, at: float | str, *, metric: str | None = None, **keys: object) -> pd.DataFrame:
        """The arm to choose at one point of the axis, one row per curve, the usual curve first.

        Arguments as for `ask`. Raises CrossoverError likewise, and if no choice could be made there.
        """
        chosen = self.chosen(self._told(words, at, metric, keys))
        if not chosen:
            raise CrossoverError(
                "no choice was made there: fewer than two arms have an interval, or nobody chooses by this metric"
            )
        return _frame([one.row for one in chosen])

    def find(self, text: str, at: object = None, metric: str | None = None, keys: Mapping[str, object] = {}) -> Match:
        """The answers that a question means, the usual ones first; `at` is the point, unless `text` names one.

        Raises CrossoverError for words that no answer has, and for a point that is on no axis.
        """
        typed = index.typed(text)
        points = typed.points if at is None else (at,)
        panels = self._tables.every_panel
        if metric is not None:
            question.one_of("metric", metric, (panel.metric for panel in panels))
            panels = [panel for panel in panels if panel.metric == metric]
        if not self._tables.every_panel:
            raise CrossoverError(f"{self.results}: no launch was measured{_hosts_needed(typed.words)}")
        fitting = [panel for panel in panels if not points or _fitting(points, panel)]
        if not run_tables.exists(self.results, "recommendations"):
            settings = {setting.name for each in declared().values() for setting in each.recommends}
            if undecided := settings.intersection(typed.words):
                raise CrossoverError(f"{undecided.pop()}: settings are decided together; {run_tables.AGAIN}")
        nowhere = [word for word in typed.words if index.synonyms().get(word) == ""]
        asked_words = [word for word in typed.words if word not in nowhere]
        match, missing, able = self._index.match(asked_words, points, fitting)
        lacking = [f"{word}: not measured, and no experiment can" for word in nowhere]
        lacking += [self._missing(missing, able)] if able else []
        told = {panel.experiment for panel in match.panels} | {row.experiment for row in match.settings}
        if not told or (able and told.isdisjoint(able)):
            if not told and points and (off := self._index.match(asked_words, (), panels)[0].panels):
                axes = dict.fromkeys(f"{panel.facts.axis} in {panel.facts.axis_unit}" for panel in off)
                raise CrossoverError(f"{numbers.listed([*map(str, points)])} is on no axis there: {', '.join(axes)}")
            known = "; ".join(lacking) or f"no answer of this run has a word of {text!r}"
            raise CrossoverError(f"{known}; without words, crossover ask lists the questions")
        ignored = [typed.share] if typed.share and points else []
        match = replace(match, lacking="; ".join(lacking), share=typed.share if not points else "")
        if match.settings:
            return replace(match, settings=question.matching(match.settings[0].setting, match.settings, keys))
        found, notes = match.panels, [*match.notes]
        if keys:
            found = question.matching(" or ".join({panel.experiment: "" for panel in found}), found, keys)
        for key, value in typed.counts.items():
            if found[0].facts.axis_unit == key and not points:
                points = (value,)
                continue
            try:
                found = question.matching(found[0].experiment, found, {key: value})
            except CrossoverError as fault:
                notes.append(str(fault))
        curves = {_curve(each.panel) for each in self._curves}
        asked = [panel for panel in found if _curve(panel) in curves]
        if not asked:
            leading = leads()
            asked = [each for each in found if each.metric == leading.get(each.experiment)] or found
        asked = plain_first(asked)
        here = _fitting(points, asked[0])
        if len(here) > 1:
            raise CrossoverError(f"{' and '.join(map(str, here))} are two points; ask for one at a time")
        if left := [*(str(point) for point in points if point not in here), *ignored]:
            notes.append(f"ignored: {', '.join(left)}")
        at = here[0] if here else None
        return replace(match, panels=[each for each in asked if at is None or _fitting([at], each)], notes=notes, at=at)

    def _missing(self, words: Sequence[str], experiments: Sequence[str]) -> str:
        """What this run did not measure, and how to measure it by one of these experiments."""
        tiers = {name: index.tier_of(name, words) for name in experiments}
        name = min(tiers, key=lambda name: ([*TIERS, ""].index(tiers[name]), declared()[name].place))
        command = f"snakemake --profile {holes.profile(self._tables)} --config tier={tiers[name]} results=results-more"
        remedy = f"`{command} -- {name}` measures it"
        remedy = remedy if tiers[name] else f"name it in experiments.{name} of config/config.yaml (config/README.md)"
        return f"{', '.join(words)}: not measured; {remedy}"

    def _told(self, words: str, at: object, metric: str | None, keys: Mapping[str, object]) -> Match:
        """The curves of a question in Python; words that are guessed, ignored or not measured are warnings."""
        found = self.find(words, at, metric, keys)
        if found.settings:
            raise CrossoverError(f"{found.settings[0].setting} is a setting; run.settings() has its recommendations")
        for note in filter(None, [found.lacking, *found.notes]):
            warnings.warn(note, stacklevel=3)
        return found

    def two_arms(self, found: Match) -> list[Answer]:
        """The ratio of the two arms that a question names, in each of its curves that has both: at its point, or at
        the first and the last that both have."""
        told = []
        for panel in found.panels if len(found.arms) == 2 else ():
            if {*found.arms} <= {*panel.arms}:
                arm, than = sorted(found.arms, key=lambda each: each == panel.reference)
                own = [row.x for row in self._against(panel, arm, than).ratios]
                points = [own[0], own[-1]] if found.at is None else [found.at]
                told += [each for at in points for each in self._ratios(panel, at, arm, than)]
        return told

    def chosen(self, found: Match) -> list[Chosen]:
        """The choice of each curve at the point of a question; empty without any."""
        return [Chosen.at(each, amount(found.at, each.panel.facts.axis_unit)) for each in self._own(found)]

    def along(self, found: Match) -> list[Question]:
        """The choices along the whole axis, curves with the same words together."""
        return choices.together(self._own(found), self._curves)

    def tournament(self, found: Match) -> Tournament | None:
        """The pairs of hosts that the experiment of a question measured; None if its answer is a choice of arms."""
        return tournaments.of(self._tables, found.panels[0].experiment)

    def to_decide(self, own: Tournament) -> str | None:
        """How to decide the open hosts of a tournament, in words; None without one."""
        return own.remedy(self._tables)

    def _own(self, found: Match) -> list[Question]:
        """The curves with choices that a question means."""
        wanted = {_curve(panel) for panel in found.panels}
        return [each for each in self._curves if _curve(each.panel) in wanted]

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

    def measurements(self) -> Dataset:
        """All measurements, as a dataset that reads the raw files lazily.

        With the columns of the first file: earlier releases had fewer, and their `levels` were JSON text.
        """
        from pyarrow.dataset import dataset

        files = [*map(str, run_tables.raw_files(self.results))]
        return dataset(files or record.MEASUREMENTS.empty_table())

    def settings(self) -> pd.DataFrame:
        """The table of recommended settings. Raises CrossoverError if an experiment was measured alone since."""
        run_tables.require_joined(self.results)
        return self._table("recommendations")

    def chart(
        self, words: str, *, metric: str | None = None, ratios: bool = False, **keys: object
    ) -> alt.LayerChart | alt.VConcatChart:
        """The report's chart of the curves that `words` name: the arms' values, or their `ratios` to the reference.

        If there are several curves, their charts are below each other.
        """
        # Altair takes half a second to load, which no other question needs.
        from crossover.config import published
        from crossover.report.charts import figures

        datasets, draw = published.read(), figures.ratio if ratios else figures.curve
        panels = self._told(words, None, metric, keys).panels
        drawn = [draw(panel, datasets) for panel in panels if (panel.near_ratios if ratios else panel.values)]
        if not drawn:
            raise CrossoverError("no such curve has a value to draw; choose another metric or other keys")
        for each in drawn:
            each.width = WIDTH
        return drawn[0] if len(drawn) == 1 else _stacked(drawn)

    def answers(self, found: Match, arm: str | None = None, than: str | None = None) -> list[Answer]:
        """The ratios at the point of a question, one per curve and arm."""
        every = [each for panel in found.panels for each in self._ratios(panel, found.at, arm, than)]
        if not any(each.cells for each in every):
            ends = [each.ends for each in every]
            facts = every[0].panel.facts
            here, low, high = (
                numbers.quantity(place, facts.axis_unit)
                for place in (every[0].x, min(end for end, _ in ends), max(end for _, end in ends))
            )
            raise CrossoverError(f"{here} is outside the measured axis; {facts.axis} is from {low} to {high}")
        return every

    def _ratios(self, panel: Panel, at: object, arm: str | None, than: str | None) -> list[Answer]:
        own, x = self._against(panel, arm, than), amount(at, panel.facts.axis_unit)
        arms = dict.fromkeys(row.arm for row in own.ratios)
        return [answer(own, each, self._name(panel), x, panel.reference) for each in arms]

    def values(self, found: Match, arm: str) -> list[Value]:
        """The values of one arm at the point of a question, one per curve. Raises the errors of `ask`."""
        return [
            answers.value(
                panel, arm, self._name(panel), amount(found.at, panel.facts.axis_unit),
                [row for row in self._tables.choices if row.curve == _curve(panel)],
            )
            for panel in found.panels
        ]  # fmt: skip

    def reached(self, found: Match, level: float) -> list[tuple[Threshold, str]]:
        """From where each arm reaches a level, each row with the name of its curve."""
        with_levels = {name: [m.name for m in each.metrics if m.levels] for name, each in declared().items()}
        panels = [
            panel
            for panel in self._tables.every_panel
            if panel.metric in with_levels.get(panel.experiment, [])
            and any(panel_key(panel) == panel_key(each) for each in found.panels)
        ]
        if not panels:
            others = [name for name, metrics in with_levels.items() if metrics]
            raise CrossoverError(f"no metric with levels there; these have one: {', '.join(others)}")
        return [
            (row, f"{question.quoted(row.arm)} ({self._name(panel)}): {row.metric} of at least {share} {words}")
            for panel in panels
            for row in [row for row in panel.thresholds if row.level == level] or self._reached(panel, level)
            for share, words in [(numbers.percent(level), findings.reached(row).replace("**", ""))]
            if not row.is_null_arm
        ]

    def _reached(self, panel: Panel, level: float) -> list[Threshold]:
        # The analysis takes a while to load, which no other question needs.
        from crossover.query import estimates

        return estimates.reached(self.results, panel, level)

    def _against(self, panel: Panel, arm: str | None, than: str | None) -> Panel:
        """The panel with ratios to the arm `than`, by default the reference, of one arm or of all that compete."""
        than, arms = answers.arms_to_compare(panel, arm, than)
        if than == panel.reference:
            return replace(panel, ratios=[row for row in panel.ratios if row.arm in arms])
        # The analysis takes a while to load, which no other question needs.
        from crossover.query import estimates

        return estimates.against(self.results, panel, than, arms)

    def settling(self, chosen: Chosen) -> str | None:
        """How to settle an open choice, in words; None for a settled one."""
        if chosen.verdict != OPEN:
            return None
        if chosen.guarantee is not None:
            left = [(row.launches, row.launches_needed) for row in chosen.rows if row.verdict == OPEN]
            if told := more.remedy(self._tables, chosen.rows[0].experiment, left):
                return told
        return more.at_point(self._tables, chosen.rows[0], chosen.x)

    def remedy(self, found: Answer) -> str | None:
        """The line that says how to decide an open answer; None for one that is decided."""
        # More launches give no interval to an answer to which none contributes.
        left = [cell for cell in found.cells if cell.launches and cell.verdict == OPEN]
        experiment = found.panel.experiment
        return more.remedy(self._tables, experiment, [(cell.launches, cell.launches_needed) for cell in left])

    def recommended(self, found: Match) -> list[tuple[Recommendation, str]]:
        """The recommendations of a question, with the names of their questions."""
        run_tables.require_joined(self.results, {row.experiment for row in found.settings})
        return [(row, place) for row, place in self._recommendations if any(row is each for each in found.settings)]

    def experiments(self) -> list[str]:
        """The experiments that have a measured curve."""
        return sorted({row.experiment for row in self._tables.summary})

    def titles(self) -> dict[str, str]:
        """The subjects of these experiments, by their names."""
        return {name: subject(name) for name in self.experiments()}

    @cached_property
    def _tables(self) -> tables.Tables:
        return tables.load(self.results, QUERIED)

    def _table(self, name: str) -> pd.DataFrame:
        frame: pd.DataFrame = run_tables.read(self.results, name).to_pandas()
        return frame

    @cached_property
    def _curves(self) -> list[Question]:
        return choices.curves(self._tables)

    @cached_property
    def _names(self) -> dict[PanelKey, str]:
        return panel_names(each.panel for each in self._curves)

    @cached_property
    def _index(self) -> Index:
        panels = self._tables.every_panel
        rows = self._recommendations if run_tables.exists(self.results, "recommendations") else []
        return Index(panels, [self._name(panel) for panel in panels], rows)

    @cached_property
    def _recommendations(self) -> list[tuple[Recommendation, str]]:
        """The recommendations, each with the name of its question."""
        names = recommendations.question_names(self._tables)
        rows = map(Recommendation.of, run_tables.read(self.results, "recommendations").to_pylist())
        return [(row, recommendations.question_name(row, names)) for row in rows]

    def _name(self, panel: Panel) -> str:
        if panel_key(panel) in self._names:
            return self._names[panel_key(panel)]
        alike = [each for each in self._tables.panels(panel.experiment) if each.metric == panel.metric]
        return panel_names(alike)[panel_key(panel)]


def _hosts_needed(typed: Sequence[str]) -> str:
    """The fewest hosts of an experiment among the words, if it needs several; empty otherwise."""
    named = [(word, declared()[word].tiers.smoke) for word in typed if word in declared()]
    wide = [(word, own.fitted(1).within("nodes").nodes) for word, own in named if own.placements == ("nodes",)]
    return "".join(f"; {word} needs {nodes} nodes, and its run says how many there were" for word, nodes in wide)


def _fitting(points: Sequence[object], panel: Panel) -> list[object]:
    """The points that are amounts in the unit of a panel's axis."""
    return [point for point in points if fits(point, panel.facts.axis_unit)]


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    # Pandas takes as long to load as the rest of a question.
    import pandas as pd

    return pd.DataFrame(rows)


def _curve(panel: Panel) -> tuple[str, ...]:
    """The columns that name a curve."""
    return (*panel_key(panel), panel.metric)


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
