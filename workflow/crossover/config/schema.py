"""The border: the user's configuration is checked by the types of its fields, and completed."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from crossover import farms
from crossover.config import amount
from crossover.config.yaml_file import foreign, refuse
from crossover.design.config import Config
from crossover.design.farming import Farming
from crossover.design.settings import TIERS, Described, FarmEntry, Ge, Rounds, Settings, described
from crossover.experiments import declared, keys_of
from crossover.planning import plan, refinement

Stated = Mapping[str, Any]
"""The configuration as the user writes it."""


def complete(config: Stated, checked: bool = False) -> Config:
    """The configuration of the chosen tier, with a value for every key.

    Raises CrossoverError with all faults, including those of other tiers; not if it is `checked` already.
    """
    if not checked:
        refuse([*foreign(config), *_misplaced(config)])
    tier = _chosen(config)
    if not checked:
        refuse(fault for each in TIERS for fault in _faults(_at_tier(config, each), each))
    return _made(_at_tier(config, tier), tier)


def _chosen(config: Stated) -> str:
    tier = config.get("tier", "quick")
    if tier not in TIERS:
        refuse([f"tier: {tier!r} is not one of {', '.join(TIERS)}"])
    return str(tier)


def _from_tier_up(config: Stated) -> list[Config]:
    """The complete configurations of the chosen tier and of all higher ones, rising."""
    return [_made(_at_tier(config, tier), tier) for tier in TIERS[TIERS.index(_chosen(config)) :]]


def require_plain(values: Stated) -> None:
    """Raise CrossoverError for a value of --config with nested keys: Snakemake passes nested numbers as text."""
    remedy = (
        "--config takes one plain value per key; set nested keys in config/config.yaml, or in a FILE with "
        "--configfile FILE"
    )
    refuse(f"{key}: {remedy}" for key, value in values.items() if isinstance(value, Mapping | list))


def waiting(config: Stated) -> dict[str, dict[str, dict[str, list[str]]]]:
    """List entries that only higher tiers measure: {experiment: {tier: {key: entries}}}.

    Each entry is listed under the first tier that has it. Experiments without such entries are left out.
    """
    present, *later = _from_tier_up(config)
    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    for name, settings in present.experiments.items():
        seen = {key: [*names] for key, names in _lists(settings).items()}
        for fuller in later:
            for key, names in _lists(fuller.experiments[name]).items():
                if new := [entry for entry in names if entry not in seen[key]]:
                    found.setdefault(name, {}).setdefault(fuller.tier, {})[key] = new
                    seen[key] += new
    return found


def _lists(settings: Settings) -> dict[str, tuple[str, ...]]:
    """The settings that are lists of names."""
    return {key: getattr(settings, key) for key, own in described(type(settings)).items() if own.kind_of_entries is str}


def higher(config: Stated) -> dict[str, list[dict[str, Any]]]:
    """For each experiment, an entry per higher tier, rising: `tier`, `arms`, the key of its `axis`, its ends `low` and
    `high`, and the keys of the curves that it `adds` to those of the tiers below.
    """
    waits = waiting(config)
    found: dict[str, list[dict[str, Any]]] = {}
    for fuller in _from_tier_up(config)[1:]:
        for name, settings in fuller.experiments.items():
            key, axis = settings.axis
            new = waits.get(name, {}).get(fuller.tier, {})
            adds = [keys for key, entries in new.items() for entry in entries if (keys := keys_of(key, entry))]
            entry: dict[str, Any] = {"tier": fuller.tier, "arms": [*settings.arms, *settings.ceilings], "adds": adds}
            entry |= {"axis": key, "low": axis[0], "high": axis[-1]}
            found.setdefault(name, []).append(entry)
    return found


# ---- completing


def _misplaced(value: Any, where: str = "") -> Iterator[str]:
    """The faults of keys that stand below a tier's name, instead of above it."""
    for name, entry in value.items() if isinstance(value, Mapping) else ():
        if name in TIERS and isinstance(entry, Mapping):
            key = next(iter(entry), "launches")
            remedy = f"write the tier below each key: {key}: {{{name}: ...}}"
            yield f"{where}{name}: no key stands below a tier's name; {remedy}"
        else:
            yield from _misplaced(entry, f"{where}{name}.")


def _at_tier(value: Any, tier: str) -> Any:
    """Replace every mapping from tiers to values by the value for `tier`; `smoke` falls back to `quick`."""
    if isinstance(value, list):
        return [*value]
    if not isinstance(value, Mapping):
        return value
    if value and set(value) <= set(TIERS):
        return _at_tier(value.get(tier, value.get("quick") if tier == "smoke" else None), tier)
    return {key: _at_tier(entry, tier) for key, entry in value.items()}


def _made(config: Stated, tier: str) -> Config:
    """The complete configuration of a tier, from values that are valid."""
    entrants = farms.entrants(config.get("farms", {}))
    chosen = config.get("experiments", dict.fromkeys(declared()))
    plain = {name: _flag(value) for name, value in config.items() if name not in ("farms", "experiments")}
    # Receipts are found by their paths, and these have neither a first ./ nor a last /.
    plain["results"] = str(Path(plain.get("results", Config.results)))
    at = plain["at"] = str(plain.get("at", ""))
    experiments = {name: _at(at, name, _completed(name, own or {}, tier, entrants)) for name, own in chosen.items()}
    return Config(**plain | {"tier": tier}, farms=entrants, experiments=experiments)


def _completed(experiment: str, own: Mapping[str, Any], tier: str, entrants: Mapping[str, FarmEntry]) -> Settings:
    defaults = declared()[experiment].tiers.at(tier)
    changed = type(defaults).read({**_whole(defaults), **own})
    return replace(changed, entrants=entrants) if isinstance(changed, Farming) else changed


def _at(point: str, experiment: str, settings: Settings) -> Settings:
    """The settings with only this point, if the experiment's axis has its unit."""
    unit = declared()[experiment].axis.unit
    if not point or not amount.fits(point, unit):
        return settings
    only: dict[str, Any] = {settings.axis[0]: (max(1, round(amount.amount(point, unit))),)}
    return replace(settings, **only)


def _whole(settings: Settings) -> dict[str, Any]:
    return {each.name: getattr(settings, each.name) for each in fields(settings)}


def _flag(value: Any) -> Any:
    """Snakemake passes the values of --config as text."""
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


# ---- checking


def _faults(config: Stated, tier: str) -> Iterator[str]:
    """All faults at a tier: values of other types or beyond their bounds, then contradictions."""
    top = {name: _flag(value) for name, value in config.items() if name not in ("farms", "experiments")}
    yield from _wrong("", Config, top | {"tier": tier})
    results = str(top.get("results", ""))
    if "\0" in results or len(results) > 2000 or any(len(os.fsencode(name)) > 255 for name in results.split("/")):
        yield "results: is no possible path; choose one of at most 2000 characters, with names of at most 255 bytes"
    at, units = str(top.get("at", "")), {each.axis.unit for each in declared().values()}
    if at and not any(amount.fits(at, unit) for unit in units):
        yield f"at: {at!r} is a point of no axis; write one such as 40kB, 10ms or 1000"
    entrants = config.get("farms", {})
    misfits = [*_misfits(entrants)]
    yield from misfits
    experiments = config.get("experiments", dict.fromkeys(declared()))
    if not isinstance(experiments, Mapping) or not experiments:
        yield f"experiments: {_unfit(experiments, 'a block of keys, one for each experiment')}"
        return
    for name, own in experiments.items():
        where = f"experiments.{name}"
        if name not in declared():
            yield f"{where}: unknown key; known here: {', '.join(declared())}"
        elif not isinstance(own, Mapping | None):
            yield f"{where}: {_unfit(own, 'a block of keys')}"
        elif wrong := [*_wrong(f"{where}.", declared()[name].settings, own or {}, name)]:
            yield from wrong
        elif not misfits:
            settings = _completed(name, own or {}, tier, farms.entrants(entrants))
            yield from (f"{where}.{fault}" for fault in _contradictions(settings))


def _unfit(value: Any, wanted: str) -> str:
    return f"{value!r} is not {wanted}"


def _wrong(where: str, kind: type, values: Mapping[str, Any], experiment: str = "") -> Iterator[str]:
    """The faults of values of the fields of a dataclass, each as `key: fault and remedy`."""
    from pydantic import ValidationError

    try:
        _model(kind, experiment).model_validate_json(json.dumps(values, default=str), strict=True)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            path = [str(step) for step in fault["loc"] if step != "[key]"]
            if path[0] == "budget_seconds":
                # A number or a mapping: only the faults of what the user has given count.
                if path[1].startswith("dict") != isinstance(values["budget_seconds"], Mapping):
                    continue
                del path[1]
            yield f"{where}{'.'.join(path)}: {_sentence(fault, kind, path)}"


WORDS = {
    "int": "a whole number",
    "float": "a number",
    "finite": "a number",
    "string": "a text",
    "bool": "true or false",
    "list": "a list",
    "dict": "a block of keys",
    "model": "a block of keys",
}


def _sentence(fault: Mapping[str, Any], kind: type, path: list[str]) -> str:
    """The fault, and the values allowed."""
    value, limits = fault["input"], fault.get("ctx", {})
    known = [*described(Rounds if path[-2:-1] == ["rounds"] else kind)]
    if not issubclass(kind, Settings | Config):
        known = ["farm", "alone", *known]
    if value is None and fault["type"] != "missing":
        return f"has no value for one of the tiers {', '.join(TIERS)}"
    match fault["type"]:
        case "extra_forbidden":
            return f"unknown key; known here: {', '.join(known)}"
        case "missing":
            return "is missing"
        case "literal_error":
            names = re.findall("'([^']*)'", limits["expected"])
            return f"{value!r} is not one of {', '.join(names)}"
        case "too_short" | "string_too_short":
            return f"is empty or too short; give at least {limits['min_length']}"
        case "greater_than_equal":
            return f"{value!r} is less than {limits['ge']}"
        case "less_than_equal":
            return f"{value!r} is greater than {limits['le']}"
        case "greater_than":
            return f"{value!r} is not greater than {limits['gt']:g}"
        case "value_error":
            return f"{value!r} {limits['error']}"
        case other:
            return f"{value!r} is not {WORDS.get(other.partition('_')[0], 'valid')}"


@cache
def _model(kind: type, experiment: str = "") -> Any:
    """The model of pydantic for values of a dataclass, as the user writes them: every key may be absent."""
    # Takes a tenth of a second, and a process that measures does not need it.
    from pydantic import ConfigDict, create_model

    required = kind is Rounds
    types = {
        name: (_type(own, _allowed(kind, name, experiment)), ... if required else None)
        for name, own in described(kind).items()
        if kind is not Config or (own.about and name not in ("farms", "experiments"))
    }
    rules = ConfigDict(extra="forbid", allow_inf_nan=False)
    return create_model(kind.__name__, __config__=rules, **types)  # type: ignore[call-overload]


def _allowed(kind: type, name: str, experiment: str) -> tuple[str, ...]:
    """The names that a setting allows; none if it allows others than names."""
    if experiment:
        return declared()[experiment].names(name)
    own = described(kind)[name].allowed
    return tuple(own.names) if own else ()


def _type(own: Described, names: tuple[str, ...]) -> Any:
    """The type of pydantic for the values of a field, as YAML gives them."""
    from pydantic import AfterValidator

    if own.axis:
        return Annotated[Any, AfterValidator(_axis)]
    if own.bare is Rounds:
        return _model(Rounds)
    if own.kind_of_entries:
        entries = Literal[names] if names else own.entries
        return Annotated[list[entries], *own.bounds, AfterValidator(_distinct)]  # type: ignore[valid-type]
    kind = Literal[names] if names else own.bare
    return Annotated[kind, *(own.bounds or ((Ge(0),) if kind is int else ())), None]


def _distinct(values: list[Any]) -> list[Any]:
    if len({*values}) < len(values):
        raise ValueError("has an entry twice")
    return values


MOST_POINT, MOST_PER_DECADE = 10**12, 100


def _axis(value: Any) -> Any:
    def is_point(each: Any, most: int = MOST_POINT) -> bool:
        return isinstance(each, int) and not isinstance(each, bool) and 1 <= each <= most

    if isinstance(value, list) and value and all(map(is_point, value)) and len({*value}) == len(value):
        return value
    if isinstance(value, Mapping) and value.keys() == {"from", "to", "per_decade"}:
        ends = value["from"], value["to"]
        if all(map(is_point, ends)) and is_point(value["per_decade"], MOST_PER_DECADE):
            if ends[1] <= ends[0]:
                raise ValueError(f"ends before it begins; to must be greater than from ({ends[0]})")
            return value
    raise ValueError(
        "is neither a list of distinct whole numbers from 1 to a trillion, "
        "nor {from: ..., to: ..., per_decade: 1 to 100}"
    )


# ---- contradictions


def _contradictions(settings: Settings) -> Iterator[str]:
    if settings.reference not in settings.arms:
        yield f"reference: {settings.reference!r} is not among the arms {', '.join(settings.arms)}"
    rounds, budget = settings.rounds, settings.budget_seconds
    if rounds.at_most < rounds.at_least:
        yield f"rounds: at_most ({rounds.at_most}) is less than at_least ({rounds.at_least})"
    for placement in settings.placements:
        if isinstance(budget, Mapping) and placement not in budget:
            yield f"budget_seconds: has no value for placement {placement}; add one"
        if settings.within(placement).idle:
            fitting = "over inproc" if placement == "process" else "between processes"
            yield f"curves: none is {fitting}, so placement {placement} has nothing to measure; add one, or remove it"
    yield from refinement.overlap(settings)
    if isinstance(settings, Farming):
        yield from _strangers(settings)


def _misfits(entrants: Any) -> Iterator[str]:
    """Faults of the configured task farms: unknown ones, or options that a farm does not have."""
    if not isinstance(entrants, Mapping):
        yield f"farms: {_unfit(entrants, 'a block of keys')}"
        return
    for name, entrant in entrants.items():
        where = f"farms.{name}"
        if not isinstance(entrant, Mapping):
            yield f"{where}: {_unfit(entrant, 'a block of keys')}"
        elif "farm" not in entrant:
            yield f"{where}.farm: is missing"
        elif entrant["farm"] not in farms.names():
            yield f"{where}.farm: unknown farm {entrant['farm']!r}; available: {', '.join(farms.names())}"
        else:
            kind = farms.declared()[entrant["farm"]]
            yield from (
                f"{where}.{key}: is missing; {entrant['farm']} needs one" for key in kind.required if key not in entrant
            )
            own = {key: value for key, value in entrant.items() if key not in ("farm", "alone")}
            yield from _wrong(f"{where}.", kind.options, own)
            if not isinstance(entrant.get("alone", False), bool):
                yield f"{where}.alone: {_unfit(entrant['alone'], WORDS['bool'])}"


def _strangers(settings: Farming) -> Iterator[str]:
    """Faults of arms and ceilings: unknown farms, ambiguous names, and too few that can run across hosts."""
    for key, names in (("arms", settings.arms), ("ceilings", settings.ceilings)):
        for name in names:
            if name not in settings.entrants:
                yield f"{key}: unknown task farm {name!r}; available: {', '.join(settings.entrants)}"
            elif name == "null":
                yield f"{key}: 'null' is the name of the null arm; rename the task farm"
    for name in settings.ceilings:
        if name in settings.arms:
            yield f"ceilings: {name!r} is an arm too; remove it from one of the two"
    known = all(name in settings.entrants for name in settings.arms)
    if "nodes" in settings.placements and settings.reference in settings.arms and known:
        left = plan.in_placement(settings, "nodes").arms
        if settings.reference not in left:
            yield f"reference: {settings.reference!r} cannot run across hosts; remove nodes from the placements"
        elif len(left) == 1:
            yield f"arms: only {left[0]!r} can run across hosts; remove nodes from the placements"
