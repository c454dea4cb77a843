"""Completes and checks the user's configuration, as `config/schema.yaml` describes it."""

import math
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from crossover import farms
from crossover.config.yaml_file import read_yaml, refuse
from crossover.design.axis import points
from crossover.design.settings import Settings
from crossover.experiments import declared, keys_of
from crossover.paths import CONFIG
from crossover.planning import curves, second_sweep
from crossover.planning.plan import Config, in_placement

FILE = CONFIG / "schema.yaml"
TIERS = ("smoke", "quick", "standard", "paper")


def complete(config: Mapping[str, Any], checked: bool = False) -> Config:
    """The configuration of the chosen tier, with one value for every key.

    Raises CrossoverError with all faults, including those of other tiers; not if it is `checked` already.
    """
    if checked:
        return _at(read_schema(), config, _chosen(read_schema(), config))
    refuse(fault for filled in _every_tier(config) for fault in _faults(read_schema(), filled))
    return _from_tier_up(config)[0]


def _chosen(schema: Mapping[str, Any], config: Mapping[str, Any]) -> Any:
    return config.get("tier", schema["properties"]["tier"]["default"])


def _at(schema: Mapping[str, Any], config: Mapping[str, Any], tier: str) -> Config:
    filled: Config = _fill(schema, _at_tier(dict(config), tier), tier) | {"tier": tier}
    return filled


def _from_tier_up(config: Mapping[str, Any]) -> list[Config]:
    """The complete configurations of the chosen tier and of all higher ones, rising."""
    return _every_tier(config)[TIERS.index(_chosen(read_schema(), config)) :]


def _every_tier(config: Mapping[str, Any]) -> list[Config]:
    chosen = _chosen(read_schema(), config)
    if chosen not in TIERS:
        refuse([f"tier: {chosen!r} is not one of {', '.join(TIERS)}"])
    return [_at(read_schema(), config, tier) for tier in TIERS]


def require_plain(values: Mapping[str, Any]) -> None:
    """Raise CrossoverError for a value of --config with nested keys: Snakemake passes nested numbers as text."""
    remedy = (
        "--config takes one plain value per key; set nested keys in config/config.yaml, or in a FILE with "
        "--configfile FILE"
    )
    refuse(f"{key}: {remedy}" for key, value in values.items() if isinstance(value, Mapping | list))


def waiting(config: Mapping[str, Any]) -> dict[str, dict[str, dict[str, list[str]]]]:
    """List entries that only higher tiers measure: {experiment: {tier: {key: entries}}}.

    Each entry is listed under the first tier that has it. Experiments without such entries are left out.
    """
    present, *later = _from_tier_up(config)
    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    for name, settings in present["experiments"].items():
        lists = {key: value for key, value in settings.items() if isinstance(value, list)}
        seen = {key: [*value] for key, value in lists.items() if all(isinstance(entry, str) for entry in value)}
        for fuller in later:
            for key, entries in seen.items():
                if new := [entry for entry in fuller["experiments"][name][key] if entry not in entries]:
                    found.setdefault(name, {}).setdefault(fuller["tier"], {})[key] = new
                    entries += new
    return found


def higher(config: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """For each experiment, an entry per higher tier, rising: `tier`, `arms`, the key of its `axis`, its ends `low` and
    `high`, and the keys of the curves that it `adds` to those of the tiers below.
    """
    waits = waiting(config)
    found: dict[str, list[dict[str, Any]]] = {}
    for fuller in _from_tier_up(config)[1:]:
        for name, settings in fuller["experiments"].items():
            key, axis = next((key, points(value)) for key, value in settings.items() if _numbers(value))
            arms = [*settings["arms"], *settings.get("ceilings", [])]
            new = waits.get(name, {}).get(fuller["tier"], {})
            adds = [keys for key, entries in new.items() for entry in entries if (keys := keys_of(key, entry))]
            entry = {"tier": fuller["tier"], "arms": arms, "adds": adds}
            entry |= {"axis": key, "low": axis[0], "high": axis[-1]}
            found.setdefault(name, []).append(entry)
    return found


def _numbers(value: Any) -> bool:
    """Whether a setting is an experiment's axis: no other setting has several numbers."""
    if isinstance(value, Mapping):
        return "per_decade" in value
    return isinstance(value, list) and bool(value) and all(isinstance(entry, int) for entry in value)


def read_schema() -> dict[str, Any]:
    """The configuration's schema, with every experiment's part. Callers share it, so they must not change it."""
    return _whole_schema(FILE.read_text(encoding="utf-8"))


@cache
def _whole_schema(text: str) -> dict[str, Any]:
    schema: dict[str, Any] = read_yaml(FILE, text)
    entrants, experiments = (schema["properties"][key] for key in ("entrants", "experiments"))
    entrants["properties"] = {
        name: {**entrants["additionalProperties"], "default": options} for name, options in farms.entrants().items()
    }
    experiments["properties"] = {name: each.schema for name, each in declared().items()}
    experiments["default"] = {name: {} for name in experiments["properties"]}
    return schema


def _at_tier(value: Any, tier: str) -> Any:
    """Replace every mapping from tiers to values by the value for `tier`; `smoke` falls back to `quick`."""
    if isinstance(value, list):
        return [*value]
    if not isinstance(value, Mapping):
        return value
    if value and set(value) <= set(TIERS):
        return _at_tier(value.get(tier, value.get("quick") if tier == "smoke" else None), tier)
    return {key: _at_tier(entry, tier) for key, entry in value.items()}


NEEDED = ["arms", "reference", "placements", "launches", "block_seconds", "rounds", "target_width", "budget_seconds"]
"""Settings that every experiment needs."""


def _fill(schema: Mapping[str, Any], value: Any, tier: str) -> Any:
    if schema.get("type") == "boolean" and isinstance(value, str):
        # Snakemake passes the values of --config as text.
        return {"true": True, "false": False}.get(value, value)
    if not isinstance(value, Mapping) or "properties" not in schema:
        return value
    filled = dict(value)
    for key, part in schema["properties"].items():
        if key not in filled and "default" in part:
            filled[key] = _at_tier(part["default"], tier)
        if key in filled:
            filled[key] = _fill(part, {} if filled[key] is None and "properties" in part else filled[key], tier)
    return filled


def _whole(_: Any, value: Any) -> bool:
    """JSON Schema accepts 3.0 as an integer, but `range` does not."""
    return isinstance(value, int) and not isinstance(value, bool)


def _finite(_: Any, value: Any) -> bool:
    """YAML allows .inf and .nan; a budget must be finite."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_TYPES = Draft202012Validator.TYPE_CHECKER.redefine_many({"integer": _whole, "number": _finite})
_Validator = cast(Any, extend)(Draft202012Validator, type_checker=_TYPES)


def forbidden(schema: Mapping[str, Any], value: Any) -> list[str]:
    """The faults of `value` by a JSON schema, each as `key: fault and remedy`."""
    return [_sentence(error) for error in _errors(schema, value)]


def _errors(schema: Mapping[str, Any], value: Any) -> list[ValidationError]:
    return sorted(_Validator(schema).iter_errors(value), key=lambda error: list(map(str, error.path)))


def _faults(schema: Mapping[str, Any], config: Mapping[str, Any]) -> list[str]:
    """All faults: violations of the schema, and contradictions within experiments that are otherwise valid."""
    errors = _errors(schema, config)
    found = [_sentence(error) for error in errors]
    if any(error.absolute_path and error.absolute_path[0] == "entrants" for error in errors):
        return found
    entrants = config["entrants"]
    found += [f"entrants.{name}.{fault}" for name in entrants for fault in _misfits(entrants[name])]
    if not isinstance(config["experiments"], Mapping):
        return found
    forbidden = {step for error in errors for step in list(error.absolute_path)[1:2]}
    allowed = config["experiments"].keys() & schema["properties"]["experiments"]["properties"].keys()
    for name in sorted(allowed - forbidden):
        settings = config["experiments"][name]
        if lacking := [key for key in NEEDED if settings.get(key) is None]:
            found += [f"experiments.{name}.{key}: is missing; give it a default in its declaration" for key in lacking]
            continue
        own = [*_contradictions(name, settings), *second_sweep.overlap(name, settings | {"entrants": entrants})]
        own += _strangers(name, settings, entrants) if declared()[name].farming else []
        found += [f"experiments.{name}.{fault}" for fault in own]
    return found


def _sentence(error: ValidationError) -> str:
    """One error of the validator, as `key: fault and remedy`."""
    path = [str(step) for step in error.absolute_path]
    where = ".".join(path) or "the configuration"
    value: Any = error.instance
    wanted: Any = error.validator_value
    if value is None:
        return f"{where}: has no value for one of the tiers {', '.join(TIERS)}"
    match error.validator:
        case "additionalProperties":
            known = list(cast(Mapping[str, Any], error.schema)["properties"])
            unknown = [key for key in value if key not in known]
            return "; ".join(
                f"{'.'.join([*path, key])}: unknown key; known here: {', '.join(known)}" for key in map(str, unknown)
            )
        case "enum":
            return f"{where}: {value!r} is not one of {', '.join(map(str, wanted))}"
        case "type":
            kinds = " or ".join([wanted] if isinstance(wanted, str) else wanted)
            return f"{where}: {value!r} is not of type {kinds}"
        case "minItems" | "minProperties":
            return f"{where}: is empty or too short; give at least {wanted}"
        case "oneOf":
            return f"{where}: {value!r} is neither a list of distinct whole numbers from 1 to a trillion, " + (
                "nor {from: ..., to: ..., per_decade: 1 to 100}"
            )
        case _:
            return f"{where}: {error.message}"


def _contradictions(experiment: str, settings: Settings) -> Iterator[str]:
    if settings["reference"] not in settings["arms"]:
        yield f"reference: {settings['reference']!r} is not among the arms {', '.join(settings['arms'])}"
    rounds = settings["rounds"]
    if rounds["at_most"] < rounds["at_least"]:
        yield f"rounds: at_most ({rounds['at_most']}) is less than at_least ({rounds['at_least']})"
    budget = settings["budget_seconds"]
    for placement in settings["placements"]:
        if isinstance(budget, dict) and placement not in budget:
            yield f"budget_seconds: has no value for placement {placement}; add one"
        named = in_placement(experiment, settings, placement).get("curves", [])
        if "curves" in settings and not curves.in_placement(named, placement):
            fitting = "over inproc" if placement == "process" else "between processes"
            yield f"curves: none is {fitting}, so placement {placement} has nothing to measure; add one, or remove it"
    for key, axis in settings.items():
        if isinstance(axis, dict) and "per_decade" in axis and axis["to"] <= axis["from"]:
            yield f"{key}: to ({axis['to']}) must be greater than from ({axis['from']})"


def _misfits(entrant: Settings) -> Iterator[str]:
    """Faults of an entrant: an unknown farm, or options that the farm does not have."""
    farm = entrant["farm"]
    if farm not in farms.declared():
        yield f"farm: unknown farm {farm!r}; available: {', '.join(farms.names())}"
        return
    kind = farms.declared()[farm]
    yield from (f"{key}: is missing; {farm} needs one" for key in kind.required if key not in entrant)
    known: dict[str, Any] = {key: {} for key in ("farm", "alone")} | kind.allowed
    yield from forbidden({"properties": known, "additionalProperties": False}, entrant)


def _strangers(experiment: str, settings: Settings, entrants: Mapping[str, Any]) -> Iterator[str]:
    """Faults of arms and ceilings: unknown entrants, ambiguous names, and too few that can run across hosts."""
    for key in ("arms", "ceilings"):
        for name in settings[key]:
            if name not in entrants:
                yield f"{key}: unknown entrant {name!r}; available: {', '.join(entrants)}"
            elif name == "null":
                yield f"{key}: 'null' is the name of the null arm; rename the entrant"
    for name in settings["ceilings"]:
        if name in settings["arms"]:
            yield f"ceilings: {name!r} is an arm too; remove it from one of the two"
    if "nodes" in settings["placements"] and settings["reference"] in settings["arms"]:
        left = in_placement(experiment, settings | {"entrants": entrants}, "nodes")["arms"]
        if settings["reference"] not in left:
            yield f"reference: {settings['reference']!r} cannot run across hosts; remove nodes from the placements"
        elif len(left) == 1:
            yield f"arms: only {left[0]!r} can run across hosts; remove nodes from the placements"
