"""The words of a question: amounts apart, and the curves whose names they are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property

from crossover.config.amount import is_unit
from crossover.design.experiments import declared
from crossover.errors import CrossoverError
from crossover.report.text import numbers
from crossover.report.text.choices import metric_word
from crossover.report.text.tables import Panel, panel_key, panel_names

FILLERS = frozenset(
    re.findall(
        r"\w+",
        """
    a about an and another any are as at be best better between big bigger by can choose compare do does fast
    faster fastest fewer for from get give good has have how i if in into is it large larger long longer many me
    more most much must my need new numpy of on one or other over own per pick program python run runs shall should
    size slow small smaller so take than that the them then there these this through time times to two under up
    use using versus via vs want we what when where which will with within would
    """,
    )
)
"""Words that tell no curve from another."""

SYNONYMS = {"zmq": "zeromq", "0mq": "zeromq", "pyzmq": "zeromq", "ipp": "ipyparallel", "mpi4py": "mpi"}

COUNTED = {"rank": "ranks", "engine": "engines", "worker": "engines", "core": "cores", "sender": "senders"}
"""The key that a number before each of these words stands for."""

AMOUNT = re.compile(r"(?<![\w.,])(\d[\d,]*\.?\d*(?:e[+-]?\d+)?|\.\d+)\s*(%|[a-zµμ]+)?(?![\w.])", re.IGNORECASE)

PLACEMENTS = {"node": "node", "process": "process", "nodes": "nodes across hosts"}

NAME, ARM, PART = 3, 2, 1
"""What a word counts that is in a curve's name, in the name of an arm that is named whole, and in a description."""


@dataclass(frozen=True)
class Typed:
    """The parts of a question."""

    words: tuple[str, ...]
    at: str = ""
    """The point of the axis, such as `40 kB`; empty without one."""
    share: str = ""
    """A share such as `90 %`; empty without one."""
    counts: Mapping[str, str] = field(default_factory=dict)
    """Values of keys, such as `4` for `ranks`."""


def typed(text: str) -> Typed:
    """The parts of a question. Raises CrossoverError for two points.

    >>> typed("copy or no-copy at 40 kB over tcp")
    Typed(words=('copy', 'no-copy', 'tcp'), at='40 kB', share='', counts={})
    >>> typed("bcast on 4 ranks, 8kB"), typed("tasks 90%").share
    (Typed(words=('bcast',), at='8kB', share='', counts={'ranks': '4'}), '90%')
    """
    points: list[str] = []
    shares: list[str] = []
    counts: dict[str, str] = {}

    def apart(found: re.Match[str]) -> str:
        unit = (found[2] or "").casefold()
        if unit in ("%", "percent"):
            shares.append(f"{found[1]}%")
        elif key := COUNTED.get(unit.removesuffix("s")):
            counts[key] = found[1]
        elif not unit or is_unit(unit):
            points.append(found[0])
        else:
            return found[0]
        return " "

    rest = AMOUNT.sub(apart, text)
    if len(points) > 1:
        raise CrossoverError(f"{' and '.join(points)} are two points; ask for one at a time")
    words = (word for word in re.split(r"[\s,:;()/?!\"']+", rest) if word and word.casefold() not in FILLERS)
    return Typed(tuple(words), "".join(points), "".join(shares[:1]), counts)


def normal(word: str) -> str:
    """A word without what people write differently.

    >>> normal("No-Copy"), normal("arrays"), normal("processes"), normal("ZMQ")
    ('nocopy', 'array', 'process', 'zeromq')
    """
    plain = re.sub(r"[-_]", "", word.casefold())
    plain = SYNONYMS.get(plain, plain)
    if plain.endswith("sses"):
        return plain[:-2]
    return plain[:-1] if len(plain) > 3 and plain.endswith("s") and not plain.endswith("ss") else plain


def split(*texts: str) -> frozenset[str]:
    """The words of names, as `normal` writes them, without numbers."""
    words = (word for text in texts for word in re.split(r"[\s,:;()/?!\"']+", text))
    return frozenset(normal(word) for word in words if word and not word.isdigit())


def pieces(*texts: str) -> frozenset[str]:
    """The same, and the parts of compound words."""
    return split(*texts) | split(*(re.sub(r"[\W_]+", " ", text) for text in texts))


@dataclass(frozen=True)
class Names:
    """What the words of a question can mean in one panel."""

    own: frozenset[str]
    """The words of its names: experiment, subject, library, keys, and the metric if users choose by it."""
    metric: frozenset[str]
    """The words of another metric, which count only together."""
    arms: Mapping[str, frozenset[str]]
    """The words of each arm's name, which count only together."""
    parts: frozenset[str]
    """The words of descriptions, and parts of arms' names."""

    @classmethod
    def of(cls, panel: Panel, name: str) -> Names:
        """Those of a panel with this short name."""
        known = declared().get(panel.experiment)
        library, title, axis, action = (
            (known.library, known.title, known.axis.name, known.action) if known else [""] * 4
        )
        asked = known is None or panel.metric in known.questions
        metric = f"{panel.metric} {metric_word(panel.experiment, panel.metric)}"
        own = [panel.experiment, name, library, panel.protocol, PLACEMENTS.get(panel.placement, "")]
        arms = {arm: split(arm) for arm in panel.arms if arm != panel.null}
        return cls(
            pieces(*own, *([metric] if asked else [])),
            frozenset() if asked else split(metric),
            arms,
            pieces(title, axis, action, *arms),
        )

    @property
    def every(self) -> frozenset[str]:
        """All words."""
        return self.own | self.metric | self.parts.union(*self.arms.values())

    def named(self, words: frozenset[str]) -> list[str]:
        """The arms whose whole names are among the words, without those that are part of another's."""
        whole = {arm: own for arm, own in self.arms.items() if own <= words}
        return [arm for arm, own in whole.items() if not any(own < other for other in whole.values())]

    def weights(self, words: frozenset[str]) -> dict[str, int]:
        """What each of the words counts here that means anything here."""
        arms = frozenset().union(*(self.arms[arm] for arm in self.named(words)))
        own = self.own | (self.metric if self.metric <= words else frozenset())
        counts = {word: NAME if word in own else ARM if word in arms else PART * (word in self.parts) for word in words}
        return {word: count for word, count in counts.items() if count}


@dataclass(frozen=True)
class Match:
    """The panels that the words of a question mean."""

    panels: list[Panel]
    arms: list[str]
    """The arms that the words name."""
    notes: list[str]
    """Remarks on words that are unknown or ignored."""
    at: object = None
    """The point of the axis, as it was typed; None without one."""
    share: str = ""
    """A share such as `90%`; empty without one."""


class Vocabulary:
    """The names of some panels."""

    def __init__(self, panels: Sequence[Panel]) -> None:
        names: dict[tuple[str, str], list[Panel]] = {}
        for panel in panels:
            names.setdefault((panel.experiment, panel.metric), []).append(panel)
        shown = [panel_names(own) for own in names.values()]
        self.panels = [panel for own in names.values() for panel in own]
        self.names = [
            Names.of(panel, told[panel_key(panel)])
            for own, told in zip(names.values(), shown, strict=True)
            for panel in own
        ]

    @cached_property
    def every(self) -> frozenset[str]:
        """All words."""
        return frozenset().union(*(names.every for names in self.names))

    def match(self, words: Sequence[str], among: Sequence[Panel]) -> Match:
        """The panels `among` these that fit the words best; none if no word is known."""
        read = {word: self._read(word) for word in words}
        notes = [note for _, note in read.values() if note]
        wanted = frozenset().union(*(known for known, _ in read.values()))
        if words and not wanted:
            return Match([], [], notes)
        every = [
            (names.weights(wanted), panel, names)
            for panel, names in zip(self.panels, self.names, strict=True)
            if any(panel is each for each in among)
        ]
        best = max(sum(weights.values()) for weights, _, _ in every)
        fitting = [entry for entry in every if sum(entry[0].values()) == best]
        meant = {word: known for word, (known, _) in read.items() if known}
        used = frozenset().union(*(weights for weights, _, _ in fitting))
        left = [word for word, known in meant.items() if not known & used]
        if left:
            notes.append(f"ignored: {numbers.listed(left)}; no measured curve has it with the other words")
        elif not any(all(known & weights.keys() for known in meant.values()) for weights, _, _ in fitting):
            notes.append(f"no measured curve has {numbers.listed([*meant])} together; each line has some of them")
        arms = dict.fromkeys(arm for _, _, names in fitting for arm in names.named(wanted))
        return Match([panel for _, panel, _ in fitting], [*arms], notes)

    def _read(self, word: str) -> tuple[frozenset[str], str]:
        """The known words that this one means, and a note if it is not known as it is."""
        plain = normal(word)
        if plain in self.every:
            return frozenset([plain]), ""
        if (own := pieces(word)) and own <= self.every:
            return own, ""
        long = [each for each in (*self.every, *SYNONYMS) if len(each) > 2]
        # Of a short word, one letter is a third.
        if len(plain) > 2 and (near := get_close_matches(plain, long, 1, 0.66 if len(plain) < 5 else 0.8)):
            return frozenset([normal(near[0])]), f"{word!r} is unknown; did you mean {near[0]}? The answer is for that"
        return frozenset(), f"{word!r} is unknown in this run"
