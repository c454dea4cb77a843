"""The run's tables as the report reads them; the panels for charts and sentences, and their short names.

A short name has the user's words, such as `ZeroMQ stream, tcp`, instead of a whole protocol.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Self, TypeVar

import pyarrow as pa

from crossover.design.experiments import subject
from crossover.design.protocol import KEYS, TRANSPORTS, Keys, label
from crossover.records import record, run_tables
from crossover.records.holes import is_hole
from crossover.records.rows import (
    Choice,
    Claim,
    Crossover,
    InPanel,
    Launch,
    OfArm,
    OnAxis,
    Pair,
    Rank,
    Ratio,
    Recommendation,
    Sensitivity,
    Summary,
    Threshold,
)
from crossover.records.validities import Validity

R = TypeVar("R")
P = TypeVar("P", bound=InPanel)

PANEL = ("experiment", "metric", "protocol", "placement")
"""The columns that name a panel."""

PanelKey = tuple[str, str, str]
"""Experiment, protocol and placement of a panel."""


@dataclass(frozen=True)
class Panel:
    """One metric under one protocol and placement: the subject of a chart and a paragraph."""

    experiment: str
    metric: str
    protocol: str
    placement: str
    summary: list[Summary]
    ratios: list[Ratio]
    crossovers: list[Crossover]
    thresholds: Sequence[Threshold] = ()
    entrants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, kw_only=True)
    """The settings of each entrant, from its launches; empty for an entrant on which launches disagree."""

    @property
    def cells(self) -> list[Summary | Ratio]:
        return [*self.summary, *self.ratios]

    @property
    def facts(self) -> OnAxis:
        """Any row of the panel, for the facts that all rows share."""
        return self.cells[0]

    @property
    def keys(self) -> Keys:
        return self.facts.keys

    @property
    def conditions(self) -> dict[str, Any]:
        return self.facts.conditions

    @property
    def unit(self) -> str:
        """The metric's unit; empty if only ratios are known."""
        return self.summary[0].unit if self.summary else ""

    @property
    def reference(self) -> str:
        """The arm that all others are divided by; empty if no ratio could be formed."""
        return self.ratios[0].reference if self.ratios else ""

    @property
    def null(self) -> str:
        """The name of the null arm; empty if there is none."""
        return next((row.arm for row in self.cells if row.is_null_arm), "")

    @property
    def ceilings(self) -> list[str]:
        return sorted({row.arm for row in self.cells if row.ceiling})

    @property
    def arms(self) -> list[str]:
        """The arms in the order of their colours: the reference, the others, the ceilings, the null arm last."""
        names = {row.arm for row in self.cells} | ({self.reference} - {""})
        bounds = self.ceilings
        return sorted(names, key=lambda name: (name != self.reference, name == self.null, name in bounds, name))

    @property
    def rivals(self) -> list[str]:
        """The arms that compete with the reference."""
        return [arm for arm in self.arms if arm not in (self.reference, self.null, *self.ceilings)]

    @property
    def compared(self) -> list[str]:
        """The rivals that have a ratio to the reference."""
        return [arm for arm in self.rivals if self.ratios_of(arm)]

    @property
    def values(self) -> list[Summary]:
        """The rows of the summary that charts show: all but those of the null arm, which would hide the reference."""
        return [row for row in self.summary if not row.is_null_arm]

    @property
    def near_ratios(self) -> list[Ratio]:
        """The ratios that charts show: all but those of ceilings, which are too far from the rivals."""
        return [row for row in self.ratios if not row.ceiling]

    @property
    def title(self) -> str:
        """The protocol, with the placement unless it is `node`."""
        return title(self.protocol, self.placement)

    @property
    def name(self) -> str:
        """The stem of the panel's figure files."""
        return slug(f"{self.metric} {self.title}")

    def ratios_of(self, arm: str) -> list[Ratio]:
        """The ratios of one arm along the axis."""
        return [row for row in self.ratios if row.arm == arm]

    def crossover_of(self, arm: str) -> Crossover | None:
        """The crossover of one arm and the reference, if it was examined."""
        return next((row for row in self.crossovers if row.arm == arm), None)


@dataclass(frozen=True)
class Tables:
    """All tables of the page, without the raw samples. Infinite numbers and NaN are None."""

    launches: Sequence[Launch] = ()
    ranks: Sequence[Rank] = ()
    validities: Sequence[Validity] = ()
    summary: Sequence[Summary] = ()
    ratios: Sequence[Ratio] = ()
    crossovers: Sequence[Crossover] = ()
    thresholds: Sequence[Threshold] = ()
    sensitivity: Sequence[Sensitivity] = ()
    claims: Sequence[Claim] = ()
    recommendations: Sequence[Recommendation] = ()
    pairs: Sequence[Pair] = ()
    choices: Sequence[Choice] = ()
    behind: Sequence[str] = ()
    """The experiments that were measured alone since the claims and recommendations of the run."""

    @classmethod
    def of(cls, tables: Mapping[str, Iterable[Mapping[str, Any]]], behind: Sequence[str] = ()) -> Self:
        """The tables by their names, from their columns."""
        every: dict[str, Any] = {name: [*map(record.TABLES[name].of, table)] for name, table in tables.items()}
        return cls(**every, behind=behind)

    @property
    def experiments(self) -> list[str]:
        """The experiments that were launched, measured or not."""
        return sorted({row.experiment for row in self.launches})

    def order(self, leads: Iterable[str]) -> list[str]:
        """The experiments of a page, in its order, then any others that were launched."""
        return list(dict.fromkeys([*leads, *self.experiments]))

    def holes(self, experiment: str | None = None) -> list[Launch]:
        """Launches without data, of one experiment or of all."""
        rows = [row for row in self.launches if is_hole(row) and experiment in (None, row.experiment)]
        return sorted(rows, key=lambda row: (row.experiment, row.placement, row.launch))

    def panels(self, experiment: str, lead: str | None = None) -> list[Panel]:
        """The panels of an experiment, those of its `lead` metric first."""
        found = [panel for panel in self.every_panel if panel.experiment == experiment]
        return sorted(found, key=lambda panel: panel.metric != lead)

    @cached_property
    def every_panel(self) -> list[Panel]:
        # A page asks for panels some eighty times.
        return panels(self.summary, self.ratios, self.crossovers, self.thresholds, self.launches)

    def leading(self, experiment: str, lead: str | None = None) -> list[Panel]:
        """The panels of an experiment's leading metric: its `lead`, or the first metric if that has no panel."""
        found = self.panels(experiment, lead)
        return [panel for panel in found if panel.metric == found[0].metric]


NAMES = [table.name for table in fields(Tables) if table.name != "behind"]


def competes(row: OfArm) -> bool:
    """Whether a row is neither of a null arm nor of a ceiling."""
    return not (row.is_null_arm or row.ceiling)


def where(row: InPanel) -> str:
    """The metric and the protocol of a row, with the placement unless it is `node`."""
    return f"{row.metric}, {title(row.protocol, row.placement)}"


def load(folder: Path, names: Iterable[str] = NAMES) -> Tables:
    """Read the newest tables of a results folder, or those of one experiment's own folder; of these `names` only.

    Without some launches of an experiment, which `behind` names, claims and recommendations
    are left out. Raises CrossoverError for a table that cannot be read, and for a folder without any.
    """
    lacking = run_tables.behind(folder)
    optional = ("claims", "recommendations", "pairs")
    without = {name for name in optional if not run_tables.exists(folder, name)}
    without |= {"claims", "recommendations"} if lacking else set()
    chosen = set(names) - without
    return Tables.of({name: harmless(run_tables.read(folder, name)) for name in NAMES if name in chosen}, lacking)


def harmless(table: pa.Table) -> list[dict[str, Any]]:
    """The columns of each row. Its texts begin no block of Markdown and mark no raw HTML: tables can come from anybody.

    Line breaks, also those in JSON, become spaces. Numbers that are not finite are None.
    """
    return [{name: _harmless(value, name) for name, value in row.items()} for row in table.to_pylist()]


def _harmless(value: Any, name: str = "") -> Any:
    """The same of a value, also a nested one."""
    if isinstance(value, str):
        return value if name == CODE else _in_a_line(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _harmless(part) for key, part in value.items()}
    return type(value)(map(_harmless, value)) if isinstance(value, list | tuple) else value


# A text of a column is often that of most rows.
@lru_cache(maxsize=10_000)
def _in_a_line(text: str) -> str:
    return CITED.sub("@ ", RAW.sub("{ =", BREAK.sub(" ", text)))


CODE = "snippet"
"""A column of code, shown only as such."""
BREAK = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+"
    r"|(?<!\\)(?:\\[nrtbf]|\\u00[0189]\w|\\u061c|\\u200[ef]|\\u202[89a-e]|\\u206[6-9])",
)
"""What ends a line, commands a terminal or turns the direction of writing: as itself or as written in JSON."""

RAW = re.compile(r"\{\s*=")
"""The mark with which Markdown takes a text for HTML."""
CITED = re.compile(r"(?<![^\W_])@(?=[\w{])")
"""The mark with which Markdown takes a text for a reference."""


def panels(
    summary: Sequence[Summary],
    ratios: Sequence[Ratio],
    crossovers: Sequence[Crossover],
    thresholds: Sequence[Threshold] = (),
    launches: Sequence[Launch] = (),
) -> list[Panel]:
    """The panels of the rows, sorted by experiment, metric, protocol and placement; rows are in order of the axis."""
    every: tuple[Sequence[Any], ...] = (summary, ratios, crossovers, thresholds)
    tables = [grouped(sorted(table, key=lambda row: (row.arm, row.x or 0)), *PANEL) for table in every]
    entrants: dict[str, dict[str, Mapping[str, Any]]] = {}
    for launch in launches:
        own = entrants.setdefault(launch.experiment, {})
        for name, entrant in (launch.settings or {}).get("entrants", {}).items():
            own[name] = entrant if own.get(name, entrant) == entrant else {}
    return [
        Panel(*curve, *(table.get(curve, []) for table in tables), entrants=entrants.get(curve[0], {}))
        for curve in sorted({*tables[0], *tables[1]})
    ]


def grouped(table: Iterable[R], *columns: str) -> dict[tuple[Any, ...], list[R]]:
    """The rows by their values in these columns, in the order of the first row of each group."""
    groups: dict[tuple[Any, ...], list[R]] = {}
    for row in table:
        groups.setdefault(tuple(getattr(row, name) for name in columns), []).append(row)
    return groups


def title(name: str, placement: str) -> str:
    """A protocol or an experiment, with the placement unless it is `node`.

    >>> title("REQ/REP over tcp", "node"), title("REQ/REP over tcp", "nodes")
    ('REQ/REP over tcp', 'REQ/REP over tcp (nodes)')
    """
    return name if placement == "node" else f"{name} ({placement})"


def slug(text: str) -> str:
    """Text as a file name or an identifier: lower case, with hyphens.

    >>> slug("round trip, blocking (node)")
    'round-trip-blocking-node'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def panel_names(panels: Iterable[Panel]) -> dict[PanelKey, str]:
    """The name of each panel: its experiment's title, and the fewest keys that tell it from the experiment's others."""
    found: dict[PanelKey, str] = {}
    of_experiment: dict[str, list[Panel]] = {}
    for panel in panels:
        of_experiment.setdefault(panel.experiment, []).append(panel)
    for experiment, own in of_experiment.items():
        title = subject(experiment)
        facts = {panel_key(panel): panel.conditions for panel in own}
        apart = telling_keys(list(facts.values()))
        usual = {key: value for key in apart if (value := _usual_value([each.get(key) for each in facts.values()]))}
        for which, own_facts in facts.items():
            told = {key: own_facts[key] for key in dict.fromkeys([*apart, *TOLD]) if key in own_facts}
            words = [_key_words(key, value) for key, value in told.items() if key in TOLD or value != usual.get(key)]
            found[which] = ", ".join([title, *filter(None, words)])
    return found


TOLD = ("transport", "memory", "prelude", "binding")
"""Keys on which factors depend so much that a name has even their usual value."""


def conditions(panels: Iterable[Panel]) -> list[str]:
    """The words for keys of TOLD on which all these panels agree."""
    seen = [panel.keys for panel in panels]
    shared = {key: {own.get(key) for own in seen} for key in TOLD}
    return [_key_words(key, value) for key, (value, *others) in shared.items() if value is not None and not others]


def panel_key(panel: Panel) -> PanelKey:
    """The columns that name a panel, whatever its metric."""
    return panel.experiment, panel.protocol, panel.placement


def telling_keys(known: Sequence[Mapping[str, object]]) -> list[str]:
    """A smallest set of keys that tells all panels apart; earlier ones of KEYS are preferred."""
    keys = [key for key in (*KEYS, "placement") if len({each.get(key) for each in known}) > 1]
    different = len({tuple(each.get(key) for key in keys) for each in known})
    for key in reversed(keys):
        rest = [other for other in keys if other != key]
        if len({tuple(each.get(other) for other in rest) for each in known}) == different:
            keys = rest
    return keys


def _usual_value(values: Sequence[object]) -> object:
    """The value that more than half of the panels have, and that needs no words; None without one."""
    most = max(values, key=values.count)
    return most if values.count(most) > len(values) / 2 else None


def _key_words(key: str, value: object) -> str:
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
    "memory": ("fresh",),
    "prelude": ("work", "pause", "wait", "none"),
    "binding": ("own", "free", "shared"),
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
    known = panel.conditions
    pairs = [(usual, known.get(key)) for key, usual in PLAIN.items()]
    return [usual.index(value) if value in usual else len(usual) * (value is not None) for usual, value in pairs]
