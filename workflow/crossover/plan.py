"""From the configuration to experiments, launches and resources.

Nothing of ours is imported, no clock is read; of files, only the schema, and with `partial` which raw files there
are. Snakemake loads it in every job, so it imports nothing heavy either.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

SCHEMA = Path(__file__).parents[2] / "config" / "schema.yaml"
TIERS = ("quick", "standard", "paper")

Config = dict[str, Any]
Settings = dict[str, Any]


class ConfigError(Exception):
    """A configuration that cannot be run: one line per key at fault, each with what is wrong there."""

    def __init__(self, faults: list[str]):
        self.faults = faults
        super().__init__("config error\n" + "\n".join(f"  {fault}" for fault in faults))


# ---- from what the user wrote to a complete, checked configuration


def readable(file: str | Path) -> None:
    """Raise ConfigError, naming the line, if a configuration file is not YAML; Snakemake's own message does not."""
    try:
        yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError([f"{file}: cannot be read as YAML: {' '.join(str(error).split())}"]) from error


def complete(config: Mapping[str, Any]) -> Config:
    """The configuration with every key present and one value per key, that of the chosen tier.

    Raises ConfigError with all the faults there are, in every tier and not in the chosen one alone.
    """
    schema = read_schema()
    chosen = config.get("tier", schema["properties"]["tier"]["default"])
    if chosen not in TIERS:
        raise ConfigError([f"tier: {chosen!r} is not one of {', '.join(TIERS)}"])
    completed, faults = {}, []
    for tier in TIERS:
        completed[tier] = _fill(schema, _at_tier(dict(config), tier), tier)
        faults += _faults(schema, completed[tier])
    if faults:
        raise ConfigError(list(dict.fromkeys(faults)))
    return cast(Config, completed[chosen] | {"tier": chosen})


def read_schema() -> dict[str, Any]:
    """The configuration's schema, its references resolved in place."""
    schema = yaml.safe_load(SCHEMA.read_text())
    definitions = schema.pop("$defs")

    def resolve(node: Any) -> Any:
        if isinstance(node, list):
            return [resolve(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            node = definitions[node["$ref"].rpartition("/")[2]] | {k: v for k, v in node.items() if k != "$ref"}
        return {key: resolve(value) for key, value in node.items()}

    resolved: dict[str, Any] = resolve(schema)
    return resolved


def _at_tier(value: Any, tier: str) -> Any:
    """Replace every mapping whose keys are tiers by its entry for `tier`."""
    if not isinstance(value, Mapping):
        return value
    if value and set(value) <= set(TIERS):
        return _at_tier(value.get(tier), tier)
    return {key: _at_tier(entry, tier) for key, entry in value.items()}


def _fill(schema: Mapping[str, Any], value: Any, tier: str) -> Any:
    """Add the schema's defaults wherever `value` is silent."""
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
    """JSON Schema takes 3.0 for an integer too; `range` and a message's length do not."""
    return isinstance(value, int) and not isinstance(value, bool)


def _finite(_: Any, value: Any) -> bool:
    """YAML can say .inf and .nan; a budget cannot."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_TYPES = Draft202012Validator.TYPE_CHECKER.redefine_many({"integer": _whole, "number": _finite})
_Validator = cast(Any, extend)(Draft202012Validator, type_checker=_TYPES)


def _faults(schema: Mapping[str, Any], config: Mapping[str, Any]) -> list[str]:
    """Every fault: what the schema forbids, and in the experiments that it allows, what contradicts itself."""
    errors = sorted(_Validator(schema).iter_errors(config), key=lambda error: list(map(str, error.path)))
    found = [_sentence(error) for error in errors]
    if not isinstance(config["experiments"], Mapping):
        return found
    forbidden = {step for error in errors for step in list(error.absolute_path)[1:2]}
    allowed = config["experiments"].keys() & schema["properties"]["experiments"]["properties"].keys()
    for name in sorted(allowed - forbidden):
        found += [f"experiments.{name}.{fault}" for fault in _contradictions(config["experiments"][name])]
    return found


def _sentence(error: ValidationError) -> str:
    """One error of the validator as `key: what is wrong and what would be right`."""
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
            return f"{where}: {value!r} is not of type {wanted}"
        case "minItems" | "minProperties":
            return f"{where}: is empty or too short; it needs at least {wanted}"
        case "oneOf":
            return f"{where}: {value!r} is neither a list of whole numbers from 1 up, each once, " + (
                "nor {from: ..., to: ..., per_decade: ...}"
            )
        case _:
            return f"{where}: {error.message}"


def _contradictions(settings: Settings) -> Iterator[str]:
    if settings["reference"] not in settings["arms"]:
        yield f"reference: {settings['reference']!r} is not among the arms {', '.join(settings['arms'])}"
    rounds = settings["rounds"]
    if rounds["at_most"] < rounds["at_least"]:
        yield f"rounds: at_most ({rounds['at_most']}) is less than at_least ({rounds['at_least']})"
    for key, axis in settings.items():
        if isinstance(axis, dict) and "per_decade" in axis and axis["to"] <= axis["from"]:
            yield f"{key}: to ({axis['to']}) must be greater than from ({axis['from']})"


# ---- what an experiment's settings mean


def points(axis: list[int] | dict[str, int]) -> list[int]:
    """The points of an axis in rising order, from a list or from {from, to, per_decade}.

    >>> points({"from": 100, "to": 10000, "per_decade": 3})
    [100, 215, 464, 1000, 2154, 4642, 10000]
    """
    if isinstance(axis, list):
        return sorted(axis)
    decades = math.log10(axis["to"] / axis["from"])
    steps = max(1, round(decades * axis["per_decade"]))
    return sorted({round(axis["from"] * 10 ** (decades * step / steps)) for step in range(steps + 1)})


@dataclass(frozen=True)
class Arm:
    """One alternative. The null arm is the reference entered a second time, under the name `null`."""

    name: str
    runs: str
    """The alternative that is really run: `name`, or the reference for the null arm."""

    @property
    def null(self) -> bool:
        """Whether any difference from the reference is this machine's noise."""
        return self.name == "null"


def arms(settings: Settings) -> list[Arm]:
    """The arms of an experiment, the reference first and the null arm last."""
    reference = settings["reference"]
    others = [name for name in settings["arms"] if name != reference]
    return [Arm(reference, reference), *(Arm(name, name) for name in others), Arm("null", reference)]


def ranks(settings: Settings) -> int:
    """Processes of one launch: two peers, or a driver and each farm's engines."""
    return 1 + int(settings["engines"]) * len(arms(settings)) if "engines" in settings else 2


def limit_seconds(settings: Settings) -> int:
    """When the supervisor ends a launch: start-up, then four times the budget."""
    return math.ceil(90 + 4 * float(settings["budget_seconds"]))


def runtime_minutes(settings: Settings) -> int:
    """What to ask of a batch system: well above the supervisor's own limit."""
    return math.ceil(limit_seconds(settings) / 60) + 5


def measured(settings: Settings) -> str:
    """What one launch depends on, as canonical JSON: not how many launches there are, nor where others run."""
    return canonical({key: value for key, value in settings.items() if key not in ("launches", "placements")})


def canonical(settings: Mapping[str, Any]) -> str:
    """Settings as JSON, the same text for the same meaning."""
    return json.dumps(settings, sort_keys=True)


# ---- what Snakemake asks


def for_config(config: Config, ask: Callable[[Config, str], Any]) -> Callable[[Any], Any]:
    """Turn a question about a complete configuration and one of its experiments into a function of wildcards."""

    def answer(wildcards: Any) -> Any:
        return ask(config, wildcards.experiment)

    return answer


def for_settings(config: Config, ask: Callable[[Settings], Any]) -> Callable[[Any], Any]:
    """The same for a question about the experiment's settings alone."""

    def answer(wildcards: Any) -> Any:
        return ask(config["experiments"][wildcards.experiment])

    return answer


def nodes(wildcards: Any) -> int:
    """Hosts that a placement needs."""
    return {"node": 1}[wildcards.placement]


def launches(config: Config, experiment: str | None = None) -> Iterator[dict[str, Any]]:
    """Every launch of the run, or of one experiment, as {experiment, placement, launch}."""
    for name, settings in config["experiments"].items():
        if experiment in (None, name):
            for placement in settings["placements"]:
                for number in range(1, settings["launches"] + 1):
                    yield {"experiment": name, "placement": placement, "launch": number}


RAW = "{results}/raw/{experiment}/{placement}/launch={launch}.parquet"


def raw_files(config: Config, experiment: str | None = None) -> list[str]:
    """The raw files of the run, or of one experiment; with `partial`, those that exist."""
    paths = [RAW.format(results=config["results"], **launch) for launch in launches(config, experiment)]
    return [path for path in paths if not config["partial"] or Path(path).exists()]
