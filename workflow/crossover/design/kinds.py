"""Kinds of settings: each function gives a setting for a declaration, with its allowed values as JSON Schema."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crossover.design.cell import Metric
from crossover.design.protocol import Keys, label

Default = Any
"""One value, or a mapping with one per tier. Without a value for `smoke`, that of `quick` holds."""


@dataclass(frozen=True)
class Setting:
    """A setting of an experiment."""

    about: str
    allowed: Mapping[str, Any]
    """Its allowed values, as JSON Schema."""
    default: Default
    entries: Mapping[str, Keys] = field(default_factory=dict)
    """For a list whose entries are curves: the keys of each."""
    one: str = ""
    """For a list of which a launch has one value: the name of that value in the settings of the launch."""
    farms: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """For such a list, the task farms that a launch with an entry needs, although none is an arm: {name: options}."""

    @property
    def schema(self) -> dict[str, Any]:
        """The setting as JSON Schema, with its description and default."""
        return {"description": self.about, **self.allowed, "default": self.default}

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it allows; none if it allows others than names."""
        return tuple(self.allowed.get("enum", self.allowed.get("items", {}).get("enum", ())))


Settings = dict[str, Setting]

POINT = {"type": "integer", "minimum": 1, "maximum": 1_000_000_000_000}
POINTS = {"type": "array", "items": POINT, "minItems": 1, "uniqueItems": True}
DECADES = {
    "type": "object",
    "properties": {"from": POINT, "to": POINT, "per_decade": {"type": "integer", "minimum": 1, "maximum": 100}},
    "required": ["from", "to", "per_decade"],
    "additionalProperties": False,
}


def decades(low: int, high: int, per_decade: int) -> dict[str, int]:
    """Points of an axis at equal ratios."""
    return {"from": low, "to": high, "per_decade": per_decade}


def axis(about: str, default: Default) -> Setting:
    """Points of an axis: a list, or `decades`."""
    return Setting(about, {"oneOf": [POINTS, DECADES]}, default)


def one_of(about: str, names: Iterable[str], default: Default) -> Setting:
    """One name."""
    return Setting(about, {"enum": [*names]}, default)


def whole(about: str, default: Default, least: int = 1, most: int | None = None) -> Setting:
    """A whole number."""
    return Setting(about, _whole(least, most), default)


def _whole(least: int, most: int | None) -> dict[str, Any]:
    return {"type": "integer", "minimum": least} | ({} if most is None else {"maximum": most})


def number(about: str, default: Default) -> Setting:
    """A number above 0."""
    return Setting(about, POSITIVE, default)


POSITIVE = {"type": "number", "exclusiveMinimum": 0}


def numbers(about: str, default: Default, most: int | None = None, one: str = "") -> Setting:
    """A list of whole numbers."""
    return Setting(about, _list(_whole(1, most)), default, one=one)


def _list(items: Mapping[str, Any], fewest: int = 1) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": fewest, "uniqueItems": True}


def values_of(
    key: str,
    about: str,
    values: Sequence[str],
    default: Default,
    one: str = "",
    farms: Mapping[str, Mapping[str, Any]] | None = None,
) -> Setting:
    """A list of values of a key, one curve each."""
    entries = {value: {key: value} for value in values}
    return Setting(about, _list({"enum": [*values]}), default, entries, one, farms or {})


def curves(about: str, every: Iterable[Keys], default: Default) -> Setting:
    """A list of curves with several keys each, by their labels."""
    entries = {label(keys): keys for keys in every}
    return Setting(about, _list({"enum": [*entries]}), default, entries)


# ---- settings that experiments share


def arms(about: str, names: Sequence[str], default: Default) -> Setting:
    """The alternatives, in the order of charts."""
    return Setting(about, _list({"enum": [*names]}, fewest=2), default)


def reference(names: Sequence[str], default: str, about: str = "") -> Setting:
    """The arm that all others are divided by."""
    return one_of(" ".join(filter(None, ("The arm that all others are divided by.", about))), names, default)


def ceilings(about: str, names: Sequence[str], default: Default) -> Setting:
    """Upper bounds of the arms."""
    return Setting(about, _list({"enum": [*names]}, fewest=0), default)


WHERE = (
    "Where the two ends, or a farm's client and its engines, are. `node`: processes of one host. `process`: threads of "
    "one process. `nodes`: processes on several hosts, measured only if a batch system provides them."
)


def placements(names: Sequence[str], default: Default, about: str = WHERE, fewest: int = 1) -> Setting:
    """Where the processes of a launch are."""
    return Setting(about, _list({"enum": [*names]}, fewest), default)


FEW = {"quick": 3, "standard": 1, "paper": 1}
"""The fewest rounds of a cell where a tier has many launches."""


def sampling(
    launches: Default,
    block_seconds: Default,
    most_rounds: int,
    target_width: Default,
    budget_seconds: Default,
    fewest_rounds: Default = 3,
) -> Settings:
    """How often and how long is measured. A budget is one number, or one per placement."""
    per_placement = {name: POSITIVE for name in ("process", "node", "nodes")}
    return {
        "launches": whole(
            "Independent process launches of each heat, the unit of replication. One launch gives no interval; an "
            "interval from two says little. All heats together have at most 10,000.",
            launches,
        ),
        "block_seconds": number(
            "The time of a block, or a little longer. The number of repetitions in a block is calibrated to it.",
            block_seconds,
        ),
        "fewest_rounds": whole(
            "Rounds of a cell even if the budget is spent. Many launches of one round say more than few of many.",
            fewest_rounds,
        ),
        "rounds": Setting(
            "The rounds of a cell after which it stops as soon as it reaches `target_width`, and the most. Each round "
            "runs every arm once; ceilings in every third, and so the null arm of a launch with many cells.",
            {
                "type": "object",
                "properties": {name: {"type": "integer", "minimum": 3} for name in ("at_least", "at_most")},
                "required": ["at_least", "at_most"],
                "additionalProperties": False,
            },
            {"at_least": 10, "at_most": most_rounds},
        ),
        "target_width": number(
            "A cell stops once the interval of every ratio within the launch reaches at most this far to either side, "
            "as a fraction of the ratio.",
            target_width,
        ),
        "budget_seconds": Setting(
            "Time for the cells of one launch; costly cells get fewer rounds. One number, or one per placement.",
            {
                "type": ["number", "object"],
                "exclusiveMinimum": 0,
                "properties": per_placement,
                "additionalProperties": False,
            },
            budget_seconds,
        ),
    }


DENSER = {"quick": 0, "standard": 3, "paper": 5}


def refinement(metrics: Sequence[Metric], leading: str = "", default: Default = DENSER) -> Settings:
    """A second sweep inside the crossovers of one of these metrics, by default of the `leading` one or the first."""
    names = [metric.name for metric in metrics]
    return {
        "refine_points": whole(
            "Points that a second sweep adds inside each crossover, at least one between neighbouring points of its "
            "bracket. The second sweep has as many launches as the first, each in at most half the time. With 0 there "
            "is none.",
            default,
            least=0,
        ),
        "refine_metric": one_of("The metric whose crossovers the second sweep refines.", names, leading or names[0]),
    }
