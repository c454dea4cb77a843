"""Recommended settings: their value, gain and guarantee, lines to paste, and the reasons for none."""

import html
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby

from crossover.design.experiments import subject
from crossover.records.outcome import OPEN, SETTLED
from crossover.records.rows import Recommendation
from crossover.report.text import choices, markup, numbers
from crossover.report.text.tables import Tables

PROGRAM = "a whole program, in all its questions"
"""The name of all questions of a setting together."""

Names = Mapping[tuple[str, ...], str]
"""The name of each question with choices, by its experiment, protocol, placement and metric."""


def section(tables: Tables) -> str:
    """The whole section."""
    rows = tables.recommendations
    if not rows:
        return "No setting was examined."
    names = question_names(tables)
    passed, left = ([row for row in rows if row.recommended is wanted] for wanted in (True, False))
    examined = numbers.counted(len(rows), "setting")
    parts = [f"{examined} examined, each for one question: **{len(passed)}** have a recommended value."]
    if passed:
        lines = [_line(place, own) for place, own in of_equal_value(tables)]
        parts += [f"::: {{.settings}}\n\n{markup.table(lines)}\n\n:::"]
        pasted = [_to_paste(name, list(own), names) for name, own in groupby(passed, _name)]
        parts += [markup.folded("Lines to paste", "\n\n".join(pasted))]
    if left:
        # Without any recommendation, the reasons are shown unfolded.
        about = f"Leave at the default: {numbers.counted(len(left), 'setting')} without a recommendation, and why"
        parts.append(markup.folded(about, markup.table(list(_reasons(left, names))), unfolded=not passed))
    return "\n\n".join(parts)


def _line(place: str, own: Sequence[Recommendation]) -> dict[str, str]:
    return {
        "setting": _name(own[0]),
        "for": place,
        "set it to": f"**{markup.verbatim(value(own[0]))}**",
        "gain": markup.verbatim(gain(own)) or "–",
        "against the best": cost(own),
    }


def _name(row: Recommendation) -> str:
    return f"`{row.setting}` of {row.library}"


def _reasons(left: Sequence[Recommendation], names: Names) -> Iterator[dict[str, str]]:
    """A line for each setting and reason, with all the questions that share it; the first of a setting explains it."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for row in left:
        alike.setdefault((_name(row), row.about, why_none(row)), []).append(question_name(row, names))
    explained = set()
    for (name, about, reason), places in alike.items():
        told = name if name in explained else f"{name}: {about}"
        explained.add(name)
        yield {"setting": told, "for": "; ".join(dict.fromkeys(places)), "why nothing is recommended": reason}


def _to_paste(name: str, own: Sequence[Recommendation], names: Names) -> str:
    """What a setting does, and the lines to paste, once for all questions with the same lines."""
    snippets: dict[str, list[str]] = {}
    for row in own:
        snippets.setdefault(row.snippet, []).append(question_name(row, names))
    parts = [f"{name}: {own[0].about}."]
    for text, places in snippets.items():
        parts += [f"For {'; '.join(places)}:", markup.raw(f"<pre><code>{html.escape(text)}</code></pre>")]
    return "\n\n".join(parts)


def question_names(tables: Tables) -> Names:
    """The names of a run's questions."""
    return {question.rows[0].curve: question.name for question in choices.curves(tables)}


def of_equal_value(tables: Tables) -> list[tuple[str, list[Recommendation]]]:
    """The recommended rows of one setting and value, with the names of their questions."""
    names = question_names(tables)
    found: dict[tuple[str, str], list[Recommendation]] = {}
    for row in tables.recommendations:
        if row.recommended:
            found.setdefault((row.setting, PROGRAM if row.for_program else value(row)), []).append(row)
    return [(_question_list(rows, names), rows) for rows in found.values()]


def _question_list(rows: Sequence[Recommendation], names: Names) -> str:
    """The names of the questions of these rows, each experiment's once."""
    own: dict[str, list[str]] = {}
    for row in rows:
        own.setdefault(subject(row.experiment), []).append(question_name(row, names))
    told = []
    for title, every in own.items():
        apart = [name.removeprefix(title).lstrip(" ,:") for name in dict.fromkeys(every)]
        told.append(
            f"{title}: {' / '.join(apart)}" if len(apart) > 1 and all(apart) else "; ".join(dict.fromkeys(every))
        )
    return "; ".join(told)


def question_name(row: Recommendation, names: Names) -> str:
    """The name of a row's question; its experiment without one."""
    if row.for_program:
        return PROGRAM
    return names.get((row.experiment, row.protocol, row.placement, row.metric)) or f"{row.experiment}"


def value(row: Recommendation) -> str:
    """The value to set, in the words of the library: the lines to paste assign it, or use the arm."""
    begins, ends = "", ""
    if row.x is not None:
        begins = numbers.position(row.x, row.low, row.high, row.axis_unit)
        ends = "".join(begins.partition(" [")[1:])
    elif row.low is not None and row.high is not None:
        begins = numbers.between(row.low, row.high, row.axis_unit)
        ends = f", {begins}"
    if f"{row.setting} = " in row.snippet:
        return f"{row.setting} = {row.value}{ends}"
    return f"{row.arm} instead of {row.default} {f'from {begins} on' if begins else 'everywhere'}"


def gain(rows: Sequence[Recommendation]) -> str:
    """By how much one value is better than the default, where it changes anything; empty for a whole program."""
    if rows[0].for_program:
        return ""
    low, high = min(filter(None, (row.gain_low for row in rows))), max(filter(None, (row.gain_high for row in rows)))
    factors = " to ".join(dict.fromkeys(numbers.significant(end, 2) for end in (low, high)))
    return f"{factors} times {'better than' if low >= 1 else 'as good as'} {rows[0].default}"


def cost(rows: Sequence[Recommendation]) -> str:
    """The most by which another candidate can be better, and another value of the setting, if that is less."""
    most = max(row.guarantee or math.inf for row in rows)
    of_values = max(row.guarantee_of_values or math.inf for row in rows)
    whole = choices.at_most(most, SETTLED)
    if choices.bound(most) == choices.bound(of_values):
        return whole
    return f"{choices.at_most(of_values, SETTLED)} of its values, {whole} arm"


def worth(rows: Sequence[Recommendation]) -> str:
    """The gain, if there is one for these questions, and the cost."""
    return ", ".join(filter(None, [gain(rows), cost(rows)]))


def why_none(row: Recommendation) -> str:
    """Why nothing is recommended, with the choices along the axis, and what would change it."""
    parts = [f"{row.reason}: {cost([row])}" if row.guarantee is not None else row.reason]
    if row.guarantee is None and row.points:
        parts.append(_points(row))
    return "; ".join([*parts, *["more launches can decide it"] * row.reason.startswith(OPEN)])


def _points(row: Recommendation) -> str:
    points = row.points or {}
    every = sorted(chain(*points.values()))
    words = {OPEN: OPEN} | {arm: f"`{arm}`" for arm in points if arm != OPEN}
    return ", ".join(f"{words[arm]} at {numbers.runs(own, every, row.axis_unit)}" for arm, own in points.items())
