"""The index of a run's answers: a question's amounts, and the answers whose names share most with its words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher, get_close_matches
from functools import cache
from math import log

from crossover.config.amount import COUNTS, THOUSANDS, fits, is_unit
from crossover.design import farms
from crossover.design.experiments import ANY, Experiment, declared
from crossover.design.farming import BOUND
from crossover.design.settings import TIERS, described
from crossover.records.rows import Recommendation
from crossover.report.text.choices import metric_word
from crossover.report.text.tables import Panel

FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and any are as at be between by can do does for from has how i if in into is it its many may me much "
        "must my not of on one or over per should than that the then there this to two up use using versus vs we "
        "what when where which will with",
    )
)
"""English words without a meaning of their own."""

COUNTED = {"rank": "ranks", "engine": "engines", "worker": "engines", "core": "cores", "sender": "senders"}
"""The key that a number before each of these words stands for."""

NUMBER = re.compile(r"(\d[\d,]*\.?\d*(?:e[+-]?\d+)?|\.\d+)(%|[a-zµμ]*)", re.IGNORECASE)
SPLIT = re.compile(r"[\s:;()/?!\"'`=]+|,(?!\d)|(?<!\w)\.(?!\d)")

GUESSED = 0.8
"""What a prefix or a word with another letter counts, of the weight of the word itself."""


def normal(word: str) -> str:
    """A word without what people write differently.

    >>> normal("No-Copy"), normal("arrays"), normal("processes"), normal("comm.")
    ('nocopy', 'array', 'process', 'comm')
    """
    plain = re.sub(r"[-_.]", "", word.casefold())
    if plain.endswith("sses"):
        return plain[:-2]
    return plain[:-1] if len(plain) > 3 and plain.endswith("s") and not plain.endswith("ss") else plain


def split(text: str) -> list[str]:
    """The words of a text, without those that mean nothing alone."""
    words = (word.rstrip(".-") for word in SPLIT.split(text))
    return [word for word in words if word and word.casefold() not in FUNCTION_WORDS]


def parts(word: str) -> list[str]:
    """The parts of a compound word."""
    return split(re.sub(r"[\W_]+|(?<=[a-z])(?=[A-Z][a-z])", " ", word))


def tokens(*texts: str) -> frozenset[str]:
    """The words of texts and their parts, as `normal` writes them."""
    words = (each for word in split(renamed(" ".join(texts))) for each in (word, *parts(word)))
    return frozenset(normal(each) for each in words if not each.isdigit())


# ---- declarations


@cache
def synonyms() -> dict[str, str]:
    """The synonyms of all experiments, each with its meaning, the longest first."""
    every = {name: own for each in declared().values() for name, own in each.synonyms.items()}
    return dict(sorted(every.items(), key=lambda entry: -len(entry[0])))


def renamed(text: str) -> str:
    """A text with declared names in place of their synonyms."""
    known = {name.casefold(): own for name, own in synonyms().items() if own}
    pattern = "|".join(rf"(?<![\w-]){re.escape(name)}(?![\w-])" for name in known)
    return re.sub(pattern, lambda found: known[found[0].casefold()], text, flags=re.IGNORECASE)


def _of_arms(arms: Iterable[str], each: Experiment | None) -> list[str]:
    """The words of arms, and of the farms of task farms; not of their ceiling, whose library is another's."""
    known = farms.arms() if each and each.farming else {}
    return [text for arm in arms if arm != BOUND for text in (arm, str(known.get(arm, {}).get("farm", "")))]


def _about(name: str, each: Experiment | None) -> list[str]:
    return [name, each.title, each.subject, each.action, each.library, each.axis.name] if each else [name]


def _whole(name: str, each: Experiment) -> list[str]:
    """The texts of an experiment at every tier."""
    return [*_about(name, each), *(metric.name for metric in each.metrics), *each.questions.values()]


@cache
def documents() -> dict[str, frozenset[str]]:
    """The words of all that each experiment can measure."""
    found = {}
    for name, each in declared().items():
        allowed = [value for own in described(each.settings).values() if own.allowed for value in own.allowed.names]
        values = [str(value) for own in each.keys.values() if own != ANY for value in own]
        arms = each.names("arms") or (*farms.arms(), *each.tiers.paper.arms)
        found[name] = tokens(*_whole(name, each), *allowed, *values, *_of_arms(arms, each)) | phrases(arms)
    return found


def phrases(names: Iterable[str]) -> frozenset[str]:
    """Whole names as tokens of their own."""
    return frozenset(f"={name}" for name in names)


@cache
def rarity(token: str) -> float:
    """The inverse frequency of a token among the experiments."""
    every = documents()
    return log(1 + len(every) / max(1, sum(token in own for own in every.values())))


def tier_of(experiment: str, words: Iterable[str]) -> str:
    """The lowest tier from quick on whose defaults have these words; empty if none has them."""
    each, wanted = declared()[experiment], {normal(word) for word in words}
    for tier in TIERS[1:]:
        own = each.tiers.at(tier)
        stated = [str(part) for value in vars(own).values() if isinstance(value, tuple) for part in value]
        if wanted <= tokens(*_whole(experiment, each), *stated, *_of_arms(own.arms, each)):
            return tier
    return ""


def named(text: str, names: Iterable[str]) -> list[str]:
    """The names all of whose words a text has, in its case if another name differs in case only; without those within
    a longer one.

    >>> named("send or Send", ["send", "Send", "Pipe send"]), named("pipe or QUEUE", ["Pipe", "Queue"])
    (['send', 'Send'], ['Pipe', 'Queue'])
    """
    exact = set(split(text))
    folded = {word.casefold() for word in exact}
    own = {name: set(split(renamed(name))) for name in names}
    found = {name: words for name, words in own.items() if words and {w.casefold() for w in words} <= folded}
    alike = {name.casefold() for name, words in found.items() if words <= exact}
    found = {name: words for name, words in found.items() if words <= exact or name.casefold() not in alike}
    return [name for name, words in found.items() if not any(words < other for other in found.values())]


# ---- a question


@dataclass(frozen=True)
class Typed:
    """The parts of a question."""

    words: tuple[str, ...]
    points: tuple[str, ...] = ()
    """Points of an axis, such as `40 kB`."""
    share: str = ""
    """A share such as `90%`; empty without one."""
    counts: Mapping[str, str] = field(default_factory=dict)
    """Values of keys, such as `4` for `ranks`."""


def typed(text: str) -> Typed:
    """The parts of a question.

    >>> typed("copy or no-copy at 40 kB over tcp")
    Typed(words=('copy', 'no-copy', 'tcp'), points=('40 kB',), share='', counts={})
    >>> typed("bcast on 4 ranks, 8kB").counts, typed("tasks 90%").share, typed("100 empty tasks").points
    ({'ranks': '4'}, '90%', ('100 tasks',))
    """
    words, rest, points, share, counts = split(renamed(text)), list[str](), list[str](), "", dict[str, str]()
    while words:
        word = words.pop(0)
        found = NUMBER.fullmatch(word)
        if not found or not found[1].strip(","):
            rest.append(word)
            continue
        number, unit = found[1].rstrip(","), found[2]
        if not unit and words and (is_unit(words[0]) or words[0].casefold() in ("%", "percent")):
            unit = words[0] if _counted(words[0]) else words.pop(0)
        noun = next((each for each in words[:2] if _counted(each)), "")
        thousands = THOUSANDS.get(unit.casefold(), 0) or (unit == noun)
        if unit.casefold() in ("%", "percent"):
            share = f"{number}%"
        elif noun and thousands and (key := COUNTED.get(normal(noun))):
            counts[key] = number
            words.remove(noun)
        elif noun and thousands:
            points.append(f"{float(number.replace(',', '')) * thousands:.15g} {noun}")
            if noun.casefold() not in COUNTS:
                words.remove(noun)
        elif unit and thousands:
            points.append(f"{number}{unit}B")
        elif is_unit(unit) and (unit or not words or _known(words[0])):
            points.append(f"{number} {unit}" if unit and not word.endswith(unit) else word.rstrip(","))
        else:
            rest.append(word)
    return Typed(tuple(rest), tuple(points), share, counts)


def _counted(word: str) -> bool:
    """Whether a word names things that can be counted, such as `tasks`."""
    return normal(word) in COUNTED or (is_unit(word) and len(word) > len("task"))


def _known(word: str) -> bool:
    """Whether an experiment has this word."""
    return any(normal(word) in own for own in documents().values())


# ---- the index


@dataclass(frozen=True)
class Match:
    """The answers that the words of a question mean: panels, or rows of recommendations."""

    panels: list[Panel]
    settings: list[Recommendation] = field(default_factory=list)
    arms: list[str] = field(default_factory=list)
    """The arms that the words name."""
    lacking: str = ""
    """The remark on what the run did not measure; empty without any."""
    notes: list[str] = field(default_factory=list)
    """Remarks on words that are guessed or ignored."""
    at: object = None
    """The point of the axis, as it was typed; None without one."""
    share: str = ""
    """A share such as `90%`; empty without one."""


class Index:
    """The answers of a run as short texts of names."""

    def __init__(self, panels: Sequence[Panel], names: Sequence[str], rows: Sequence[tuple[Recommendation, str]]):
        """`names` are the short names of the panels; `rows` are recommendations with the names of their questions."""
        self.panels = [(panel, _tokens(panel, name)) for panel, name in zip(panels, names, strict=True)]
        self.rows = [(row, *_setting(row, place)) for row, place in rows]
        self.vocabulary = frozenset().union(
            *(text for _, text in self.panels), *(text for _, text, _ in self.rows), *documents().values()
        )

    def match(
        self, words: Sequence[str], points: Sequence[object], among: Sequence[Panel]
    ) -> tuple[Match, list[str], list[str]]:
        """The answers with the most rare words, `among` panels; then the words that the run lacks, and the experiments
        that measure them, if any."""
        read = {part: _read(part, self.vocabulary) for word in words for part in _known_parts(word, self.vocabulary)}
        guesses = {word: next(iter(each)) for word, each in read.items() if [*each.values()] == [GUESSED]}
        whole, own = " ".join(guesses.get(word, word) for word in read), {id(panel) for panel in among}
        wanted = phrases(named(whole, sorted(each[1:] for each in self.vocabulary if each.startswith("="))))

        def score(text: frozenset[str]) -> float:
            told = (max((rarity(t) * q for t, q in each.items() if t in text), default=0.0) for each in read.values())
            # The words of a longer name count already.
            return round(sum(told) + sum(rarity(arm) for arm in wanted & text if " " not in arm), 6)

        meant = frozenset().union(*read.values())
        scored: list[tuple[tuple[float, bool], Panel | Recommendation, frozenset[str]]] = [
            *(((score(text), False), panel, text) for panel, text in self.panels if id(panel) in own),
            *(((score(text), True), row, text) for row, text, keys in self.rows if keys & meant),
        ]
        best = max((value for value, _, _ in scored), default=(0.0, False))
        chosen = [(each, text) for value, each, text in scored if value == best and (best[0] or not words)]
        used = frozenset().union(*(text for _, text in chosen))
        scores = {name: score(text) for name, text in documents().items()}
        missing, able = self._lacking(read, wanted, used, scores, best[0], points)
        notes = [f"{word!r} is read as {guess!r}" for word, guess in guesses.items()]
        if ignored := [word for word, each in read.items() if not each.keys() & used and word not in missing]:
            notes.append(f"ignored: {', '.join(ignored)}")
        found = Match(
            [each for each, _ in chosen if isinstance(each, Panel)],
            [each for each, _ in chosen if isinstance(each, Recommendation)],
            sorted((arm[1:] for arm in wanted & used), key=lambda arm: whole.casefold().find(arm.casefold())),
            notes=notes,
        )
        return found, missing, able

    def _lacking(
        self,
        read: Mapping[str, Mapping[str, float]],
        wanted: frozenset[str],
        used: frozenset[str],
        scores: Mapping[str, float],
        best: float,
        points: Sequence[object],
    ) -> tuple[list[str], list[str]]:
        """The words of a question that the run lacks, and the experiments that measure them.

        `wanted` are the names of arms among its words, and `used` the text of the answers, whose score is `best`.
        """
        run = {panel.experiment for panel, _ in self.panels}
        every = {name: value for name, value in scores.items() if name in run or not declared()[name].of_user}
        near = [name for name in every if any(fits(point, declared()[name].axis.unit) for point in points)]
        able = {name: value for name, value in every.items() if name in near or not any(map(every.get, near))}
        most = max(able.values(), default=0.0)
        fitting = [name for name, value in able.items() if value == most > best]
        left = documents()[fitting[0]] - used if fitting else frozenset[str]()
        missing = [word for word, each in read.items() if each.keys() & left and not each.keys() & used]
        unmeasured = wanted.difference(*(text for _, text in self.panels))
        if arms := [arm for arm in sorted(unmeasured) if " " not in arm or tokens(arm[1:]) - used]:
            missing = [*dict.fromkeys([*missing, *(arm[1:] for arm in arms)])]
            fitting = fitting or [name for name in able if documents()[name].intersection(arms)]
        return missing, fitting if missing else []


def _known_parts(word: str, vocabulary: frozenset[str]) -> list[str]:
    """A word that is known as it is, or the parts of it that are."""
    own = [part for part in parts(word) if normal(part) in vocabulary]
    return [word] if min(_read(word, vocabulary).values(), default=0) or not own else own


def _read(word: str, vocabulary: frozenset[str]) -> dict[str, float]:
    """The tokens that match a word of a question, each with its weight; none for an unknown word."""
    plain = normal(word)
    if plain in vocabulary:
        return {plain: 1.0}
    if len(plain) > 3 and (longer := [each for each in vocabulary if each.startswith(plain)]):
        return dict.fromkeys(longer, GUESSED)
    # People hardly ever mistake the first letter.
    near = [each for each in vocabulary if len(each) > 2 and each[0] == plain[:1] and each.isalnum()]
    for guess in get_close_matches(plain, near, 3, 0.6) if len(plain) > 2 else ():
        same = sum(block.size for block in SequenceMatcher(None, plain, guess).get_matching_blocks())
        # Of three letters, another one makes another word.
        if same >= max(len(plain), len(guess)) - 1 and (len(plain) > 3 or sorted(plain) == sorted(guess)):
            return {guess: GUESSED}
    return {}


def _tokens(panel: Panel, name: str) -> frozenset[str]:
    """The text of a panel with this short name."""
    each, arms = declared().get(panel.experiment), [arm for arm in panel.arms if arm != panel.null]
    keys = [value for value in panel.keys.values() if isinstance(value, str)]
    told = [name, panel.protocol, panel.metric, metric_word(panel.experiment, panel.metric), *keys]
    told.append("across hosts" if panel.placement == "nodes" else panel.placement)
    return tokens(*_about(panel.experiment, each), *told, *_of_arms(arms, each)) | phrases(arms)


def _setting(row: Recommendation, place: str) -> tuple[frozenset[str], frozenset[str]]:
    """The text of a recommendation, and the words of its name that no experiment has, one of which a question needs."""
    keys = tokens(row.setting).difference(*documents().values())
    return tokens(row.library, row.setting, place) | phrases([row.setting] if keys else []), keys
