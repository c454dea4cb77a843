"""Short names of panels in the user's words, such as `ZeroMQ stream, tcp`, instead of whole protocols."""

import re
from collections.abc import Iterable, Mapping, Sequence

from crossover.design.protocol import KEYS, TRANSPORTS, label
from crossover.experiments import subject
from crossover.report.base.tables import Panel

Name = tuple[str, str, str]
"""Experiment, protocol and placement of a panel."""


def names(panels: Iterable[Panel]) -> dict[Name, str]:
    """The name of each panel: its experiment's title, and the fewest keys that tell it from the experiment's others."""
    found: dict[Name, str] = {}
    of_experiment: dict[str, list[Panel]] = {}
    for panel in panels:
        of_experiment.setdefault(panel.experiment, []).append(panel)
    for experiment, own in of_experiment.items():
        title = subject(experiment)
        facts = {name(panel): {**panel.keys, "placement": panel.placement} for panel in own}
        apart = telling(list(facts.values()))
        usual = {key: value for key in apart if (value := _usual([each.get(key) for each in facts.values()]))}
        for which, known in facts.items():
            words = [_words(key, known[key]) for key in apart if key in known and known[key] != usual.get(key)]
            found[which] = ", ".join([title, *filter(None, words)])
    return found


def name(panel: Panel) -> Name:
    """The columns that name a panel, whatever its metric."""
    return panel.experiment, panel.protocol, panel.placement


def telling(known: Sequence[dict[str, object]]) -> list[str]:
    """A smallest set of keys that tells all panels apart; earlier ones of KEYS are preferred."""
    keys = [key for key in (*KEYS, "placement") if len({each.get(key) for each in known}) > 1]
    different = len({tuple(each.get(key) for key in keys) for each in known})
    for key in reversed(keys):
        rest = [other for other in keys if other != key]
        if len({tuple(each.get(other) for other in rest) for each in known}) == different:
            keys = rest
    return keys


def _usual(values: Sequence[object]) -> object:
    """The value that more than half of the panels have, and that needs no words; None without one."""
    most = max(values, key=values.count)
    return most if values.count(most) > len(values) / 2 else None


def _words(key: str, value: object) -> str:
    if key == "placement":
        return {"node": "", "nodes": "across hosts"}.get(str(value), str(value))
    return label({key: value}) or ("" if value is False else str(value))


PLAIN: dict[str, tuple[object, ...]] = {
    "pattern": ("PUSH/PULL", "REQ/REP"),
    "object": ("float64 array",),
    "re_sent": (False,),
    "legacy": (False,),
    "polled": (False,),
    "player": ("rank",),
    "placement": ("node",),
    "transport": TRANSPORTS,
    "library_version": (),
}
"""The usual values of the keys that make a curve plain, the most important key first."""


def plain_first(panels: Iterable[Panel]) -> list[Panel]:
    """The panels in their order, but metric by metric the curves that readers know best first: PUSH/PULL over tcp."""
    found = list(panels)
    metrics = list(dict.fromkeys(panel.metric for panel in found))
    return sorted(found, key=lambda panel: (metrics.index(panel.metric), _unusual(panel)))


def _unusual(panel: Panel) -> list[int]:
    """For each key of PLAIN, the place of the panel's value among the usual ones; the number of those for any other."""
    known = {**panel.keys, "placement": panel.placement}
    pairs = [(usual, known.get(key)) for key, usual in PLAIN.items()]
    return [usual.index(value) if value in usual else len(usual) * (value is not None) for usual, value in pairs]


def shortened(titles: Iterable[str]) -> tuple[str, dict[str, str]]:
    """A sentence on the words that most of these titles of curves have, empty if none; and each title without them.

    A word is left out if all titles have it, or if more than half have it and each other one has a word of that kind.

    >>> shortened(["PUSH/PULL over tcp, 64 MB in flight", "PUSH/PULL over ipc, 64 MB in flight"])[0]
    'All curves: 64 MB in flight.'
    >>> shortened(["REQ/REP over ipc", "REQ/REP over ipc, legacy"])[1]
    {'REQ/REP over ipc': 'REQ/REP over ipc', 'REQ/REP over ipc, legacy': 'legacy'}
    """
    words = {title: PLACED.sub("", title).split(", ") for title in titles}
    if len(words) < 2:
        return "", {title: title for title in words}
    every = list(dict.fromkeys(word for own in words.values() for word in own))
    shared = [word for word in every if all(word in own for own in words.values())]
    usual = [word for word in every if word not in shared and _is_usual(word, list(words.values()))]
    short = {}
    for title, own in words.items():
        # A title with nothing of its own keeps its first words.
        kept = [word for word in own if word not in (*shared, *usual)] or own[:1]
        placed = PLACED.search(title)
        short[title] = ", ".join(kept) + (placed[0] if placed else "")
    sentences = [f"{start}: {', '.join(own)}." for start, own in (("All curves", shared), (OTHERWISE, usual)) if own]
    return " ".join(sentences), short


PLACED = re.compile(r" \((?:process|nodes)\)$")
OTHERWISE = "Unless a curve's name says otherwise"


def _is_usual(word: str, titles: Sequence[Sequence[str]]) -> bool:
    count = sum(word in own for own in titles)
    return count > len(titles) / 2 and all(any(_kind(word) == _kind(other) for other in own) for own in titles)


def _kind(word: str) -> str:
    """What a word of a title is about: its name before a colon, or its last two words, such as `in flight`.

    >>> _kind("engines: 2"), _kind("64 MB in flight"), _kind("legacy")
    ('engines', 'in flight', 'legacy')
    """
    name, colon, _ = word.partition(":")
    return name if colon else " ".join(word.split()[-2:])


def alike(lines: Sequence[Mapping[str, str]], column: str = "protocol") -> tuple[str, list[dict[str, str]]]:
    """The words that a column's titles share, as a sentence or empty; and the lines without them."""
    sentence, short = shortened(dict.fromkeys(line[column] for line in lines))
    return sentence, [{**line, column: short[line[column]]} for line in lines]
