"""The choices of a run in words: which arm along the axis of a question, and the most that this can cost."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from crossover.design.experiments import declared, subject
from crossover.records.outcome import KNOWN, OPEN, SAFER, SETTLED, WINNER
from crossover.records.rows import Choice
from crossover.report.text import findings, markup, numbers
from crossover.report.text.findings import Gain
from crossover.report.text.tables import Panel, PanelKey, Tables, conditions, panel_key, panel_names, plain_first

NO_BREAK = "\u00a0"
"""A space that keeps a number with its unit."""

PRECISE = 2
"""The factor between the ends of a boundary's interval up to which one number stands for it."""

LARGEST, TOO_FEW = 10, "too few launches"
"""The largest bound that is shown for a choice; a larger one comes from two or three launches that differ."""

SECOND, UNDECIDED = 1.5, "No gain over the defaults is settled here"
"""The gain from which a second finding is told; the words without one, and with too few launches to bound it."""

MANY = 3
"""So many changes along an axis are too many to name those that are not sure."""

MOST_NAMED = 2
"""Of more curves with one choice, the first is named, and the others are counted."""


@dataclass(frozen=True)
class Question:
    """What a user asks: the choices along one axis, or along several with the same choices."""

    name: str
    """In the user's words, such as `Bytes on one host: round trips`."""
    panel: Panel
    """The panel of the first curve."""
    rows: tuple[Choice, ...]
    first_name: str
    """The name of the first curve, with its conditions."""

    @property
    def segments(self) -> list[tuple[str, list[Choice]]]:
        """Each choice along the axis of the first curve, with its points."""
        first = [row for row in self.rows if row.curve == self.rows[0].curve]
        return [(arm, list(own)) for arm, own in groupby(first, lambda row: row.choice)]

    @property
    def is_settled(self) -> bool:
        """Whether no point is open."""
        return all(row.verdict != OPEN for row in self.rows)

    @property
    def guarantee(self) -> float:
        """The most by which the best candidate can be better, at any point."""
        return self._worst.guarantee

    @property
    def words(self) -> str:
        """The choices along the axis: `copy, from 28 kB no-copy`."""
        return self.along()

    def along(self, shown: Callable[[str], str] = str) -> str:
        """The same, with arms as `shown`; of many changes, those to parts that are open throughout are one word."""
        (first, _), *others = self.segments
        said = [shown(first) if others else f"{shown(first)} everywhere"]
        for arm, own in others:
            row = own[0]
            if row.change != SAFER:
                said.append(f"from {start(row)} {shown(arm)}")
            elif len(others) < MANY or any(each.verdict != OPEN for each in own):
                said.append(f"{shown(arm)} is safer from {_place(row)} on")
            elif not said[-1].startswith("open"):
                said.append(f"open from {_place(row)} on")
        return ", ".join(said)

    def finding(self, shown: Callable[[str], str] = str) -> str:
        """What to do for the gain: `send NumPy arrays with Send, not send: 2.9 to 8.4 times as fast from 1 kB on`.

        Arms are as `shown`. Empty without a gain.
        """
        if not self.gain:
            return ""
        known = declared()[self.panel.experiment]
        about = self.first_name.removeprefix(known.subject).strip(" ,:")
        arms = f"with {shown(self.gain.arm)}, not {shown(self.gain.default)}"
        return f"{known.action} {arms}: {self.gain.factor} {self.gain.place}{f' ({about})' if about else ''}"

    @cached_property
    def gain(self) -> Gain | None:
        """The largest gain of the first curve over the default."""
        return findings.largest_gain(self.panel, [row for row in self.rows if row.curve == self.rows[0].curve])

    @property
    def cost(self) -> str:
        """The guarantee, with its place where it is above the limit."""
        most = TOO_FEW if self.guarantee > LARGEST else bound(self.guarantee)
        return most if self.is_settled else f"{most} at {_place(self._worst)}"

    @property
    def most(self) -> str:
        """The guarantee in words, such as `at most 1.83 times worse than the best, at 1 kB`."""
        _, _, place = self.cost.partition(" at ")
        verdict = WINNER if all(row.verdict == WINNER for row in self.rows) else SETTLED
        return f"{guaranteed(self.guarantee, verdict)}{', at ' * bool(place)}{place}"

    @property
    def sentence(self) -> str:
        """The question and its choices in Markdown."""
        gain = f", {self.gain.factor} as `{markup.verbatim(self.gain.default)}` {self.gain.place}" if self.gain else ""
        left = numbers.listed([f"`{markup.verbatim(arm)}`" for arm in self.left])
        marked = self.along(lambda arm: f"`{markup.verbatim(arm)}`")
        open_ones = f"; {left} may be better there" if left else ""
        return f"**{self.name}:** {marked}{gain}. {markup.capitalized(self.most)}{open_ones}."

    @property
    def left(self) -> list[str]:
        """The arms that may be better where the guarantee is largest; none if all is settled."""
        return [] if self.is_settled else [arm for arm in self._worst.left if arm != self._worst.choice]

    @property
    def _worst(self) -> Choice:
        return max(self.rows, key=lambda row: row.guarantee)


def bound(guarantee: float) -> str:
    """A guarantee to three digits, rounded up because it is a bound.

    >>> bound(1.0), bound(1.8201), bound(33.21), bound(651394.7)
    ('1.00', '1.83', '33.3', '652,000')
    """
    unit = 10.0 ** (math.floor(math.log10(guarantee)) - 2)
    return numbers.significant(math.ceil(guarantee / unit - 1e-7) * unit, 3)


def at_most(guarantee: float, verdict: str) -> str:
    """What a choice can cost, in words."""
    if verdict == WINNER:
        return "surely the best"
    most = bound(guarantee)
    return "surely no worse than the best" if most == bound(1) else f"at most {most} times worse than the best"


def guaranteed(guarantee: float, verdict: str) -> str:
    """The same of a choice, which has no bound worth its name if too few launches leave all open.

    >>> guaranteed(1.83, SETTLED), guaranteed(651394.7, SETTLED)
    ('at most 1.83 times worse than the best', 'too few launches to bound it')
    """
    return f"{TOO_FEW} to bound it" if guarantee > LARGEST else at_most(guarantee, verdict)


def plain(text: str) -> str:
    """The text with ordinary spaces."""
    return text.replace(NO_BREAK, " ")


def curves(tables: Tables) -> list[Question]:
    """Every curve with choices: the plainest of each question first, from the largest gain over a default on."""
    rows: dict[tuple[str, ...], list[Choice]] = {}
    for row in tables.choices:
        rows.setdefault(row.curve, []).append(row)
    panels = [panel for name in tables.order(declared()) for panel in tables.panels(name)]
    own = plain_first(panel for panel in panels if (*panel_key(panel), panel.metric) in rows)
    names = panel_names(own)
    found: dict[tuple[str, str], list[Question]] = {}
    for panel in own:
        name = _name([names[panel_key(panel)]], panel.experiment, panel.metric)
        question = Question(name, panel, tuple(rows[*panel_key(panel), panel.metric]), name)
        found.setdefault((panel.experiment, panel.metric), []).append(question)
    sizes = {which: own[0].gain.size if own[0].gain else 0.0 for which, own in found.items()}
    best = {name: max(size for (other, _), size in sizes.items() if other == name) for name, _ in found}
    placed = [
        (turn > 0, -best[which[0]], -sizes[which], question)
        for which, own in found.items()
        for turn, question in enumerate(own)
    ]
    return [question for *_, question in sorted(placed, key=lambda entry: entry[:3])]


def asked(tables: Tables) -> list[Question]:
    """The questions of a run, in the same order; curves of an experiment and metric with equal words are one."""
    every = curves(tables)
    return together(every, every)


def gaining(tables: Tables) -> list[Question]:
    """Of each experiment, the plainest curve with a gain over the default; the largest gains first."""
    best: dict[str, Question] = {}
    for question in curves(tables):
        if question.gain:
            best.setdefault(question.panel.experiment, question)
    return sorted(best.values(), key=lambda question: question.gain.size if question.gain else 0, reverse=True)


def headline(tables: Tables, shown: Callable[[str], str] = str, most: int = 2) -> str:
    """The largest gain over a default, then others above SECOND; without any, the most that defaults can cost."""
    found = gaining(tables)
    if not found:
        costs = [row.costs.get(findings.default(row.experiment), math.inf) for row in tables.choices]
        cost = max(costs, default=math.inf)
        if cost > LARGEST:
            return UNDECIDED
        return f"On this machine defaults are within {bound(max(cost, KNOWN))} of the best"
    others = [each for each in found[1:most] if each.gain and each.gain.size > SECOND]
    return markup.capitalized(plain("; ".join(each.finding(shown) for each in [found[0], *others])))


def together(some: Sequence[Question], every: Sequence[Question]) -> list[Question]:
    """Some of every curve as questions; those of an experiment and metric with equal words are one."""
    alike: dict[tuple[str, str, str], list[Question]] = {}
    for question in some:
        alike.setdefault((question.panel.experiment, question.panel.metric, question.words), []).append(question)
    names, total = panel_names(question.panel for question in every), totals(every)
    return [_joined(same, names, total[experiment, metric]) for (experiment, metric, _), same in alike.items()]


def totals(every: Iterable[Question]) -> Counter[tuple[str, str]]:
    """The number of curves by experiment and metric."""
    return Counter((question.panel.experiment, question.panel.metric) for question in every)


def _joined(same: Sequence[Question], names: Mapping[PanelKey, str], total: int) -> Question:
    """Curves with the same words, of `total` curves of the metric, as one question."""
    rows = tuple(row for question in same for row in question.rows)
    return Question(group_name(same, names, total), same[0].panel, rows, same[0].name)


def group_name(same: Sequence[Question], names: Mapping[PanelKey, str], total: int) -> str:
    """The name of some of the `total` curves of one metric; `names` has those of all panels."""
    first = same[0].panel
    titles, shared = [names[panel_key(each.panel)] for each in same], []
    if len(titles) == total:
        titles, shared = [], conditions(each.panel for each in same)
    elif len(titles) > MOST_NAMED:
        titles = [f"{titles[0]} and {len(titles) - 1} more curves"]
    return _name(titles, first.experiment, first.metric, shared)


def metric_word(experiment: str, metric: str) -> str:
    """The word for a metric, if users of the experiment choose by several; otherwise empty."""
    return declared()[experiment].questions.get(metric, "") if experiment in declared() else ""


def settled(questions: Sequence[Question]) -> str:
    """The share of points at which the choice is settled, in a sentence; empty without one."""
    verdicts = [row.verdict for question in questions for row in question.rows]
    if not verdicts:
        return ""
    known, won = (
        numbers.percent(sum(verdict in kinds for verdict in verdicts) / len(verdicts))
        for kinds in ((WINNER, SETTLED), (WINNER,))
    )
    points = numbers.counted(len(verdicts), "point")
    return f"Within {numbers.significant(KNOWN)} times of the best: {known} of {points}; surely the best: {won}."


def _name(names: Sequence[str], experiment: str, metric: str, shared: Sequence[str] = ()) -> str:
    """The name of curves with these names, none for all curves, which have the `shared` conditions; with the metric's
    word if users choose by several."""
    title = ", ".join([subject(experiment), *shared])
    apart = [name.removeprefix(title).lstrip(" ,") for name in names]
    about = f"{title}, {' / '.join(apart)}".replace(", and ", " and ") if names and all(apart) else title
    word = metric_word(experiment, metric)
    return f"{about}: {word}" if word and word not in about else about


def start(row: Choice) -> str:
    """The place from which a choice holds: its crossover with the one before, as an interval if that is wider than
    PRECISE; otherwise the part of the axis where one is possible."""
    low, high = row.begins_low or row.begins, row.begins_high or row.begins
    if row.begins is None and low and high:
        return re.sub(r"(?<=\d) (?!and )", NO_BREAK, numbers.between(low, high, row.axis_unit))
    if low and high and high / low > PRECISE:
        return numbers.span(low, high, row.axis_unit).replace(" ", NO_BREAK)
    return numbers.quantity(row.begins or row.x, row.axis_unit, 2).replace(" ", NO_BREAK)


def _place(row: Choice) -> str:
    return numbers.quantity(row.x, row.axis_unit, 2).replace(" ", NO_BREAK)
