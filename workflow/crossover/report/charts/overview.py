"""The map of a run: which arm to choose at each part of the axis of each question."""

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from textwrap import shorten

from crossover.config.amount import UNIT_BYTES
from crossover.design.experiments import declared, subject
from crossover.records.outcome import OPEN
from crossover.records.rows import Choice
from crossover.report.charts import arm_styles, gallery, marks, strips
from crossover.report.charts.arm_styles import Look
from crossover.report.text import choices, markup, numbers
from crossover.report.text.choices import Question
from crossover.report.text.tables import Tables, slug

FIRST = 6
"""The most rows of the first screen."""

STRONG = math.log(8)
"""The factor, as a logarithm, from which a colour has its full strength."""
WEAKEST, STRONGEST = 18, 62
"""The share of an arm's colour in its cells, in per cent."""

LIKE = 1.05
"""Up to this factor to the next arm, a cell shows no factor."""

OTHERS = "Other experiments"
"""The heading of the rows of experiments without a declaration."""

REASON_CHARACTERS = 60
"""The most characters of a reason in a row; the section has all of it."""

CAPTION = (
    "What to choose where. A row is a question along its axis. In a hatched cell the best arm may be better, by the "
    "factor shown. A diamond with its line is the place from which a choice is better than the one before, with its "
    "interval."
)
HINT = (
    '<p class="crossover-key"><span>A cell has the colour of the arm to choose, and its factor over the next.</span>'
    f'<span><i class="cell open"></i> {OPEN}: the factor that it may cost</span>'
    '<span><i class="point crossover"></i> crossover</span></p>'
)


def picture(tables: Tables, gaps: Sequence[tuple[str, str]] = ()) -> str:
    """The map as HTML: the first rows, then all others and the `gaps`, folded; empty without a choice."""
    every = choices.curves(tables)
    if not every:
        return ""
    rest = every[FIRST:]
    parts = [HINT, strips.table(_bodies(every[:FIRST]), "What to choose")]
    if rest or gaps:
        others = strips.table([*_bodies(rest), *_gaps(gaps)], "What to choose: all other rows")
        about = f"All rows: {len(rest) + len(gaps)} more"
        parts.append(f"<details><summary>{about}</summary>{others}</details>")
    return f'<div class="crossover-map">{"".join(parts)}</div>'


def groups(every: Sequence[Question]) -> dict[str, dict[str, list[Question]]]:
    """The questions by the unit of their axis; within a unit by library, in the order of the questions."""
    grouped: dict[str, dict[str, list[Question]]] = {}
    order = list(dict.fromkeys(library(question.panel.experiment) for question in every))
    for question in sorted(every, key=lambda question: order.index(library(question.panel.experiment))):
        unit = question.panel.facts.axis_unit
        own = grouped.setdefault("bytes" if unit in UNIT_BYTES else unit, {})
        own.setdefault(library(question.panel.experiment), []).append(question)
    # First the unit of most rows.
    return dict(sorted(grouped.items(), key=lambda entry: -sum(map(len, entry[1].values()))))


def library(experiment: str) -> str:
    """The heading of an experiment's rows."""
    return declared()[experiment].library if experiment in declared() else OTHERS


def missing(tables: Tables) -> list[tuple[str, str]]:
    """The name of each experiment that was launched and has no choice, with the reason; both without Markdown."""
    known = {row.experiment for row in tables.choices}
    found = []
    for name in tables.experiments:
        if name not in known and not (name in declared() and not declared()[name].questions):
            holes = tables.holes(name)
            reason = "no two arms have an interval"
            if holes:
                failed = numbers.counted(len(holes), "launch")
                short = shorten(f"{holes[0].hole}, {holes[0].reason}", REASON_CHARACTERS, placeholder=" ...")
                reason = f"not measured; {failed} failed: {short}"
            found.append((subject(name), reason))
    return found


def _bodies(every: Sequence[Question]) -> Iterable[str]:
    for unit, own in groups(every).items():
        scaled = {heading: [_in_bytes(question) for question in group] for heading, group in own.items()}
        places = [row.x for group in scaled.values() for question in group for row in question.rows]
        scale = strips.Scale(*ends(sorted(places)))
        prefixed = unit in numbers.SCALED_UNITS or unit in numbers.PREFIXED_UNITS
        ticks = marks.log_ticks(scale.low, scale.high) if unit == "bytes" else marks.round_ticks(sorted(set(places)))
        labels = {tick: numbers.quantity(tick, unit) if prefixed else f"{tick:,.0f}" for tick in ticks}
        title = next(iter(own.values()))[0].panel.facts.axis if unit != "bytes" else "size"
        rows = [(heading, [_row(question, scale) for question in group]) for heading, group in scaled.items()]
        yield strips.body(title, scale, labels, rows)


def _in_bytes(question: Question) -> Question:
    """The question with its axis in bytes, if that is a length of arrays; otherwise the question itself."""
    factor = UNIT_BYTES.get(question.panel.facts.axis_unit, 1)
    if factor == 1:
        return question
    rows = []
    for row in question.rows:
        places = {name: getattr(row, name) for name in ("x", "begins", "begins_low", "begins_high")}
        rows.append(replace(row, axis_unit="bytes", **{name: x and factor * x for name, x in places.items()}))
    return replace(question, rows=tuple(rows))


def ends(places: Sequence[float]) -> tuple[float, float]:
    """The ends of an axis with these points, rising; a single point stands in the middle."""
    return (places[0], places[-1]) if places[0] < places[-1] else (places[0] / 2, places[0] * 2)


def _gaps(gaps: Sequence[tuple[str, str]]) -> Iterable[str]:
    if gaps:
        rows = (
            f'<tr><th scope="row">{html.escape(name)}</th><td colspan="2">{html.escape(reason)}</td></tr>'
            for name, reason in gaps
        )
        yield f"<tbody>{''.join(rows)}</tbody>"


def _row(question: Question, scale: strips.Scale) -> str:
    panel = question.panel
    about = question.name.removeprefix(library(panel.experiment)).lstrip(" ,")
    link = f'<a href="#{gallery.address(panel)}">{html.escape(markup.capitalized(about) or "All")}</a>'
    looks = arm_styles.of(panel)
    told = question.along(lambda arm: strips.coloured(arm, looks[arm].colour))
    words = choices.plain(f"{told}; {html.escape(question.most)}")
    return strips.row(address(question), link, [*_cells(question, scale), *_crossovers(question, scale)], words)


def address(question: Question) -> str:
    """The address of a question's row."""
    return slug(f"choice {question.panel.experiment} {question.panel.title} {question.panel.metric}")


def _cells(question: Question, scale: strips.Scale) -> Iterable[str]:
    looks = arm_styles.of(question.panel)
    rows = question.rows
    first, last = ends([row.x for row in rows])
    limits = [first, *(_boundary(*pair) for pair in pairwise(rows)), last]
    for row, before, after, part in zip(rows, [None, *rows], [*rows[1:], None], pairwise(limits), strict=False):
        kind = f"{'open' if row.verdict == OPEN else 'chosen'} {looks[row.choice].colour.name}"
        style = f"--share:{share(row.factor)}%"
        if before and row.begins_high and row.begins_high > part[0]:
            style += f";--left:{_faded(looks, before)};--in:{_within(part, row.begins_high)}%"
        if after and after.begins_low and after.begins_low < part[1]:
            style += f";--right:{_faded(looks, after)};--out:{_within(part, after.begins_low)}%"
        yield strips.cell(kind, scale, part, _tip(row), True, _shown(row), style)


def _boundary(before: Choice, after: Choice) -> float:
    """The place at which the colour changes: the boundary of two choices, or half way between the points of one."""
    return after.begins or math.sqrt((after.begins_low or before.x) * (after.begins_high or after.x))


def _within(part: tuple[float, float], x: float) -> float:
    """A place on a part of the axis, in per cent of that part."""
    return strips.Scale(*part).place(x)


def _faded(looks: Mapping[str, Look], row: Choice) -> str:
    """The colour of a neighbour's choice at the boundary, over that of the cell."""
    colour = arm_styles.colour_variable(looks[row.choice].colour)
    return f"color-mix(in srgb,{colour} {share(row.factor) // 2}%,transparent)"


def _shown(row: Choice) -> str:
    """The factor of a cell: over the next arm; of an open one, by which the best may be better."""
    if row.verdict == OPEN:
        return f"≤{choices.bound(row.guarantee)}" if row.guarantee <= choices.LARGEST else "?"
    return f"{numbers.significant(row.factor, 2)}×" if row.factor > LIKE else ""


def _tip(row: Choice) -> str:
    """A cell in words: place, choice, guarantee, factor over the next arm, launches."""
    # Without its interval, which is for chance alone and one pair: the guarantee is for bias, too, and all arms.
    factor = numbers.significant(row.factor)
    place, launches = numbers.quantity(row.x, row.axis_unit), numbers.counted(row.launches, "launch")
    cost = choices.guaranteed(row.guarantee, row.verdict)
    return f"{place}: {row.choice}, {cost}; observed {factor} times as good as {row.next}; {launches}"


def share(factor: float) -> int:
    """The share of the arm's colour, in per cent, if it is better than the next by a factor."""
    return round(min(WEAKEST + (STRONGEST - WEAKEST) * max(math.log(factor), 0) / STRONG, STRONGEST))


def _crossovers(question: Question, scale: strips.Scale) -> Iterable[str]:
    """The places from which another choice is better than the one before, with their intervals."""
    for row in question.rows:
        if row.begins is not None:
            low, high = (row.begins if end is None else end for end in (row.begins_low, row.begins_high))
            text = f"crossover: {numbers.position(row.begins, low, high, row.axis_unit)}"
            yield strips.cell("interval", scale, (low, high), text)
            yield strips.point("crossover", scale, row.begins, text)
