"""Recommended settings: a table, lines to paste, and the reasons for settings without a recommendation."""

import html
from collections.abc import Iterator, Sequence
from itertools import groupby

from crossover.report.base import markup, numbers
from crossover.report.base.tables import Row, Tables
from crossover.report.sentences import settings
from crossover.report.sentences.settings import Names, Tiers


def section(tables: Tables, tiers: Tiers | None = None) -> str:
    """The whole section; `tiers` has what higher tiers measure."""
    rows = tables.recommendations
    if not rows:
        return "No setting was examined."
    names = settings.questions(tables)
    passed, left = ([row for row in rows if row["recommended"] is wanted] for wanted in (True, False))
    examined = numbers.counted(len(rows), "setting")
    parts = [f"{examined} examined, each for one question: **{len(passed)}** should not keep the default."]
    if passed:
        lines = [_line(place, own) for place, own in settings.alike(tables)]
        parts += [f"::: {{.settings}}\n\n{markup.table(lines)}\n\n:::"]
        parts += [_to_paste(name, list(own), names) for name, own in groupby(passed, _name)]
    if left:
        # Without any recommendation, the reasons are shown unfolded.
        about = f"Leave at the default: {numbers.counted(len(left), 'setting')} without a recommendation, and why"
        parts.append(markup.folded(about, markup.table(list(_reasons(left, names, tiers))), unfolded=not passed))
    return "\n\n".join(parts)


def _line(place: str, own: Sequence[Row]) -> dict[str, str]:
    return {
        "setting": _name(own[0]),
        "set it to": f"**{markup.verbatim(settings.value(own[0]))}**",
        "gain": markup.verbatim(settings.gain(own)),
        "against the best": settings.cost(own),
        "for": place,
    }


def _name(row: Row) -> str:
    return f"`{row['setting']}` of {row['library']}"


def _reasons(left: Sequence[Row], names: Names, tiers: Tiers | None) -> Iterator[dict[str, str]]:
    """A line for each setting and reason, with all the questions that share it; the first of a setting explains it."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for row in left:
        alike.setdefault((_name(row), row["about"], settings.reason(row, tiers)), []).append(settings.place(row, names))
    explained = set()
    for (name, about, reason), places in alike.items():
        told = name if name in explained else f"{name}: {about}"
        explained.add(name)
        yield {"setting": told, "for": "; ".join(dict.fromkeys(places)), "why nothing is recommended": reason}


def _to_paste(name: str, own: Sequence[Row], names: Names) -> str:
    """What a setting does, and the lines to paste, once for all questions with the same lines, folded."""
    snippets: dict[str, list[str]] = {}
    for row in own:
        snippets.setdefault(row["snippet"], []).append(settings.place(row, names))
    parts = [f"{markup.capitalized(own[0]['about'])}."]
    for text, places in snippets.items():
        parts += [f"For {'; '.join(places)}:", markup.raw(f"<pre><code>{html.escape(text)}</code></pre>")]
    return markup.folded(f"Lines to paste: {html.escape(markup.plain(name))}", "\n\n".join(parts), unfolded=False)
