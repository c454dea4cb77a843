"""The map of a run: for each pair of arms, the better arm and its factor at each part of the axis.

Pairs with the same unit of the axis share it. Lengths of arrays are in bytes, beside messages.
"""

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from textwrap import shorten

from crossover.config import published
from crossover.design.experiment import SELDOM
from crossover.experiments import declared, subject
from crossover.records.outcome import ALIKE, OPEN
from crossover.report.base import markup, numbers, questions
from crossover.report.base.tables import Panel, Row, Tables, slug
from crossover.report.charts import arm_styles, axes, gallery, overlay
from crossover.report.glance import strips
from crossover.report.sentences.winners import Pair, in_bytes, outcome, pairs

FIRST = 6
"""The most rows of the first screen."""

STRONG = math.log(8)
"""The factor, as a logarithm, from which a colour has its full strength."""
WEAKEST, STRONGEST = 18, 62
"""The share of an arm's colour in its cells, in per cent."""

OTHERS = "Other experiments"
"""The heading of the rows of experiments without a declaration."""

REASON_CHARACTERS = 60
"""The most characters of a reason in a row; the section has all of it."""

CAPTION = (
    "Who wins where, in the leading metric of each experiment. A row is a pair of arms along its axis. A cell has the "
    "colour of the better arm and the factor between the two; its bar is above if the first named is better, below if "
    "the second is. Barred cells are open: chance or possible bias could explain the difference. A diamond with its "
    "line is a crossover with its interval; a hollow one was published for the same conditions."
)
HINT = (
    '<p class="crossover-key"><span>A cell has the colour of the better arm, and the factor.</span>'
    '<span><i class="cell rival"></i> the first named is better</span>'
    '<span><i class="cell reference"></i> the second</span>'
    f'<span><i class="cell alike"></i> {ALIKE}</span><span><i class="cell open"></i> {OPEN}</span>'
    '<span><i class="point crossover"></i> crossover</span><span><i class="point published"></i> published</span></p>'
)


def picture(found: Sequence[Panel], gaps: Sequence[tuple[str, str]] = ()) -> str:
    """The map as HTML: the first rows, then all others and the `gaps`, folded; empty without a pair."""
    every = pairs(found)
    if not every:
        return ""
    names, datasets = questions.names(found), published.read()
    chosen = first(every)
    rest = [pair for pair in every if pair not in chosen]
    shown = strips.table(_bodies(chosen, names, datasets), "Who wins where")
    parts = [HINT, shown]
    if rest or gaps:
        others = strips.table([*_bodies(rest, names, datasets), *_gaps(gaps)], "Who wins where: all other rows")
        about = f"All rows: {len(rest) + len(gaps)} more"
        parts.append(f"<details><summary>{about}</summary>{others}</details>")
    return f'<div class="crossover-map">{"".join(parts)}</div>'


def first(every: Sequence[Pair]) -> list[Pair]:
    """The rows of the first screen: libraries in turn, each with its experiments that many ask for in turn.

    Of an experiment and placement comes first the plainest pair, a decided one if there is one.
    """
    panels = questions.plain_first({id(pair.panel): pair.panel for pair in every}.values())
    plain = sorted(every, key=lambda pair: next(n for n, panel in enumerate(panels) if panel is pair.panel))
    turns: dict[tuple[str, str], int] = {}
    ranked = []
    for pair in sorted(plain, key=lambda pair: pair.strength == 1):
        group = pair.panel.experiment, pair.panel.placement
        turns[group] = turns.get(group, -1) + 1
        known = declared().get(pair.panel.experiment)
        place = known.place if known else math.inf
        ranked.append(((not (known and known.asked < SELDOM), turns[group], pair.strength == 1, place), pair))
    shares: dict[str, list[tuple[bool, int, float, Pair]]] = {}
    for (unasked, _, _, place), pair in sorted(ranked, key=lambda entry: entry[0]):
        own = shares.setdefault(library(pair.panel.experiment), [])
        own.append((unasked, len(own), place, pair))
    in_turn = sorted((entry for own in shares.values() for entry in own), key=lambda entry: entry[:3])
    return [pair for *_, pair in in_turn[:FIRST]]


def groups(every: Sequence[Pair]) -> dict[str, dict[str, list[Pair]]]:
    """The pairs by the unit of their axis; within a unit by library, in the order of the pairs."""
    grouped: dict[str, dict[str, list[Pair]]] = {}
    order = list(dict.fromkeys(library(pair.panel.experiment) for pair in every))
    for pair in sorted(every, key=lambda pair: order.index(library(pair.panel.experiment))):
        unit = pair.panel.facts["axis_unit"]
        own = grouped.setdefault("bytes" if unit in numbers.UNIT_BYTES else unit, {})
        own.setdefault(library(pair.panel.experiment), []).append(pair)
    # First the unit of most rows.
    return dict(sorted(grouped.items(), key=lambda entry: -sum(map(len, entry[1].values()))))


def library(experiment: str) -> str:
    """The heading of an experiment's rows."""
    return declared()[experiment].library if experiment in declared() else OTHERS


def missing(tables: Tables, leads: Mapping[str, str]) -> list[tuple[str, str]]:
    """The name of each experiment that was launched and has no pair, with the reason; both without Markdown."""
    compared = {pair.panel.experiment for pair in pairs(tables.all_leading(leads))}
    found = []
    for name in tables.experiments:
        if name not in compared:
            holes = tables.holes(name)
            reason = "not measured; no arm was compared with another"
            if holes:
                failed = numbers.counted(len(holes), "launch")
                short = shorten(f"{holes[0]['hole']}, {holes[0]['reason']}", REASON_CHARACTERS, placeholder=" ...")
                reason = f"not measured; {failed} failed: {short}"
            found.append((subject(name), reason))
    return found


def _bodies(
    every: Sequence[Pair], names: Mapping[questions.Name, str], datasets: Sequence[published.Dataset]
) -> Iterable[str]:
    for unit, own in groups(every).items():
        places = [cell["x"] for group in own.values() for pair in group for cell in in_bytes(pair).cells]
        scale = strips.Scale(*ends(sorted(places)))
        scaled = unit in numbers.SCALED_UNITS or unit in numbers.PREFIXED_UNITS
        ticks = axes.log_ticks(scale.low, scale.high) if unit == "bytes" else axes.round_ticks(sorted(set(places)))
        labels = {tick: numbers.quantity(tick, unit) if scaled else f"{tick:,.0f}" for tick in ticks}
        title = next(iter(own.values()))[0].panel.facts["axis"] if unit != "bytes" else "size"
        yield strips.body(
            title,
            scale,
            labels,
            [(heading, [_row(pair, names, datasets, scale) for pair in group]) for heading, group in own.items()],
        )


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


def _row(
    pair: Pair, names: Mapping[questions.Name, str], datasets: Sequence[published.Dataset], scale: strips.Scale
) -> str:
    scaled, panel = in_bytes(pair), pair.panel
    others = [place for dataset in datasets for place in _published(dataset, pair)]
    marks = [*_cells(scaled, scale), *_crossovers(scaled, others, scale)]
    looks = arm_styles.of(panel)
    arms = " or ".join(strips.coloured(arm, looks[arm].colour) for arm in (pair.arm, panel.reference))
    about = names[questions.name(panel)].removeprefix(library(panel.experiment)).lstrip(" ,")
    link = f'<a href="#{gallery.address(panel)}">{html.escape(markup.capitalized(about) or "All")}</a>'
    return strips.row(address(pair), f"{link}: {arms}", marks, html.escape(outcome(scaled)))


def address(pair: Pair) -> str:
    """The address of a pair's row."""
    return slug(f"pair {pair.panel.experiment} {pair.panel.title} {pair.arm} {pair.panel.reference}")


def _cells(pair: Pair, scale: strips.Scale) -> Iterable[str]:
    looks = arm_styles.of(pair.panel)
    first, last = ends([cell["x"] for cell in pair.cells])
    for cell, (start, end) in zip(pair.cells, pair.parts, strict=True):
        side, winner = _side(pair, cell), pair.winner(cell)
        kind = f"{side} {looks[winner].colour.name}" if winner in looks else side
        factor = f"{numbers.significant(math.exp(abs(math.log(cell['ratio']))), 2)}×"
        style = f"--share:{share(cell['ratio'])}%" if winner in looks else ""
        shown = {OPEN: "", ALIKE: "="}.get(side, factor)
        yield strips.cell(kind, scale, (max(start, first), min(end, last)), _tip(pair, cell), True, shown, style)


def _tip(pair: Pair, cell: Row) -> str:
    """A cell in words: the place, the ratio with its interval, the better arm, the launches."""
    ratio = numbers.ratio(cell["ratio"], cell["low"], cell["high"])
    better = {OPEN: OPEN, ALIKE: ALIKE}.get(pair.winner(cell), f"{pair.winner(cell)} is better")
    launches = numbers.counted(cell["launches"], "launch")
    place = numbers.quantity(cell["x"], cell["axis_unit"])
    return f"{place}: {pair.arm} / {pair.panel.reference} {ratio}, {better}; {launches}"


def _side(pair: Pair, cell: Row) -> str:
    winner = pair.winner(cell)
    return {pair.arm: "rival", pair.panel.reference: "reference"}.get(winner, winner)


def share(factor: float) -> int:
    """The share of the better arm's colour, in per cent, if the arms differ by a factor or by its inverse."""
    return round(min(WEAKEST + (STRONGEST - WEAKEST) * abs(math.log(factor)) / STRONG, STRONGEST))


def _crossovers(pair: Pair, others: Sequence[tuple[float, str]], scale: strips.Scale) -> Iterable[str]:
    """The crossover of a pair with its interval, if it has one; and the places of published crossovers."""
    for place, source in others:
        if pair.cells[0]["x"] <= place <= pair.cells[-1]["x"]:
            tip = f"published: {numbers.quantity(place, 'bytes', 2)} ({source})"
            yield strips.point("published", scale, place, tip)
    row = pair.panel.crossover_of(pair.arm)
    if pair.verdict == "one" and row is not None and row["x"] is not None:
        low, high = (row["x"] if row[end] is None else row[end] for end in ("low", "high"))
        text = f"crossover: {numbers.position(row['x'], row['low'], row['high'], row['axis_unit'])}"
        yield strips.cell("interval", scale, (low, high), text)
        yield strips.point("crossover", scale, row["x"], text)


def _published(dataset: published.Dataset, pair: Pair) -> list[tuple[float, str]]:
    """The crossover in a dataset of the pair's conditions, in the unit of the drawn axis; empty unless there is one."""
    factor = numbers.UNIT_BYTES.get(pair.panel.facts["axis_unit"], 1)
    own = [point for point in overlay.ratios_over(dataset, pair.panel) if point["arm"] == pair.arm]
    places = sorted({point["x"] for point in own})
    logs = [fmean(math.log(point["value"]) for point in own if point["x"] == x) for x in places]
    steps = [step for step in pairwise(zip(places, logs, strict=True)) if step[0][1] * step[1][1] < 0]
    if len(steps) != 1:
        return []
    ((x0, y0), (x1, y1)) = steps[0]
    place = math.exp(math.log(x0) + (math.log(x1) - math.log(x0)) * y0 / (y0 - y1))
    return [(factor * place, dataset.source)]
