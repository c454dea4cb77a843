"""The border: the user's configuration is checked by the types of its fields, and completed."""

import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, replace
from functools import cache, reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, Literal

from crossover.config import amount, user_file
from crossover.config.yaml_file import STRICT, faults_of, refuse
from crossover.design import farms
from crossover.design.config import Config
from crossover.design.experiments import declared
from crossover.design.farming import Farming
from crossover.design.settings import TIERS, Described, FarmEntry, Ge, Le, Rounds, Settings, described
from crossover.planning import plan

SMOKE_RESULTS = f"{Config.results}-smoke"
"""The folder of a smoke run, which must not hide the answers of a run that means something."""

Stated = Mapping[str, Any]
"""The configuration as the user writes it."""


def complete(config: Stated, checked: bool = False, hosts: int = sys.maxsize) -> Config:
    """The configuration of the chosen tier, with a value for every key.

    Raises CrossoverError with all faults, including those of other tiers; not if it is `checked` already. On a single
    host, of `hosts`, arms need not be able to run across hosts.
    """
    if not checked:
        refuse(_misplaced(config))
    config = _with_numbers(config)
    tier = _chosen(config)
    if not checked:
        refuse(fault for each in TIERS for fault in _faults(_at_tier(config, each), each, hosts))
    return _made(_at_tier(config, tier), tier)


def _with_numbers(config: Stated) -> Stated:
    """The configuration with a number for each point of an axis that is written with a unit, such as `40kB`."""
    every = config.get("experiments")
    if not isinstance(every, Mapping):
        return config
    known = {name: own for name, own in every.items() if name in declared() and isinstance(own, Mapping)}
    found = {
        name: {key: _number(value, each.axis.unit) if key in axes else value for key, value in own.items()}
        for name, own in known.items()
        for each in [declared()[name]]
        for axes in [[key for key, mark in described(each.settings).items() if mark.axis]]
    }
    return {**config, "experiments": {**every, **found}}


def _number(value: Any, unit: str) -> Any:
    if isinstance(value, Mapping):
        return {key: _number(each, unit) for key, each in value.items()}
    if isinstance(value, list):
        return [_number(each, unit) for each in value]
    has_unit = isinstance(value, str) and value[-1:].isalpha() and amount.fits(value, unit)
    return max(1, round(amount.amount(value, unit))) if has_unit else value


def _chosen(config: Stated) -> str:
    tier = config.get("tier", "quick")
    if tier not in TIERS:
        refuse([f"tier: {tier!r} is not one of {', '.join(TIERS)}"])
    return str(tier)


def require_plain(values: Stated) -> None:
    """Raise CrossoverError for a value of --config with nested keys: Snakemake passes nested numbers as text."""
    remedy = (
        "--config takes one plain value per key; set nested keys in config/config.yaml, or in a FILE with "
        "--configfile FILE"
    )
    refuse(f"{key}: {remedy}" for key, value in values.items() if isinstance(value, Mapping | list))


# ---- completing


def _misplaced(value: Any, where: str = "") -> Iterator[str]:
    """The faults of keys that stand below a tier's name, instead of above it, and of values for some tiers only."""
    lacking = [tier for tier in TIERS[1:] if isinstance(value, Mapping) and tier not in value]
    if where and value and lacking and set(value) <= set(TIERS):
        yield f"{where.removesuffix('.')}: has no value for tier {', '.join(lacking)}"
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
    if config.get("own"):
        # Naming a file is enough.
        chosen = {**dict.fromkeys(user_file.experiments()), **chosen}
    plain = {name: _flag(value) for name, value in config.items() if name not in ("farms", "experiments")}
    # Receipts are found by their paths, and these have neither a first ./ nor a last /.
    plain["results"] = str(Path(folder({**config, "tier": tier})))
    at = plain["at"] = str(plain.get("at", ""))
    made = {name: _at(at, name, _completed(name, own or {}, tier, entrants)) for name, own in chosen.items()}
    experiments = user_file.included(made, str(plain.get("own", "")))
    return Config(**plain | {"tier": tier}, farms=entrants, experiments=experiments)


def folder(config: Stated) -> str:
    """The folder of results of the chosen tier."""
    return str(config.get("results", SMOKE_RESULTS if config.get("tier") == "smoke" else Config.results))


def _completed(experiment: str, own: Mapping[str, Any], tier: str, entrants: Mapping[str, FarmEntry]) -> Settings:
    defaults = declared()[experiment].tiers.at(tier)
    # Whoever names the arms need not name the reference too.
    arms, reference = own.get("arms") or defaults.arms, own.get("reference", defaults.reference)
    if "reference" not in own and reference not in arms:
        own = {**own, "reference": arms[0]}
    changed = type(defaults).read({**_whole(defaults), **own})
    return replace(changed, entrants=entrants) if isinstance(changed, Farming) else changed


def _at(point: str, experiment: str, settings: Settings) -> Settings:
    """The settings with only this point, if the experiment's axis has its unit."""
    unit = declared()[experiment].axis.unit
    if not point or not amount.fits(point, unit):
        return settings
    return settings.only(max(1, round(amount.amount(point, unit))))


def _whole(settings: Settings) -> dict[str, Any]:
    return {each.name: getattr(settings, each.name) for each in fields(settings)}


def _flag(value: Any) -> Any:
    """Snakemake passes the values of --config as text."""
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


# ---- checking


def _faults(config: Stated, tier: str, hosts: int) -> Iterator[str]:
    """All faults at a tier: values of other types or beyond their bounds, then contradictions."""
    flags = {name: _flag(value) for name, value in config.items() if name not in ("farms", "experiments")}
    wrong = faults_of(_whole_model(), {**config, **flags, "tier": tier})
    yield from map(_advised, wrong)
    at, units = str(config.get("at", "")), {each.axis.unit for each in declared().values()}
    if at and not any(amount.fits(at, unit) for unit in units):
        yield f"at: {at!r} is a point of no axis; write one such as 40kB, 10ms or 1000"
    yield from user_file.faults(str(config.get("own", "")))
    experiments = config.get("experiments", dict.fromkeys(declared()))
    if experiments == {}:
        yield "experiments: is empty; name one, or remove the key"
    for name, own in experiments.items() if isinstance(experiments, Mapping) else ():
        where = f"experiments.{name}"
        if name in declared() and not any(fault.startswith((f"{where}.", f"{where}:", "farms")) for fault in wrong):
            settings = _completed(name, own or {}, tier, farms.entrants(config.get("farms", {})))
            yield from (f"{where}.{fault}" for fault in _contradictions(settings, hosts))


REMOVED = ("refine_points", "refine_metric")
"""Keys of experiments that earlier releases had."""


def _advised(fault: str) -> str:
    """A fault, with advice if it is about a removed key."""
    *_, experiment, key = ["", *fault.partition(":")[0].split(".")]
    if key not in REMOVED or experiment not in declared():
        return fault
    axis, _ = declared()[experiment].tiers.quick.axis
    return f"{fault}; removed: add points by the experiment's axis key, `{axis}`"


@cache
def _whole_model() -> Any:
    """The model of pydantic for a configuration at one tier, as the user writes it: every key may be absent."""
    from pydantic import Field

    entrant: Any = Annotated[reduce(or_, map(_farm_model, farms.names())), Field(discriminator="farm")]
    every = {name: _model(name, _types(own.settings, name)) for name, own in declared().items()}
    experiments = _model("experiments", {name: kind | None for name, kind in every.items()})
    keys = {name: kind for name, kind in _types(Config).items() if described(Config)[name].about}
    return _model("Config", {**keys, "farms": dict[str, entrant], "experiments": experiments})


def _farm_model(name: str) -> Any:
    farm = farms.declared()[name]
    types = {"farm": Literal[name], "alone": bool, **_types(farm.options)}
    return _model(name, types, required=("farm", *farm.required))


def _model(name: str, types: Mapping[str, Any], required: Collection[str] = ()) -> Any:
    # Takes a tenth of a second, and a process that measures does not need it.
    from pydantic import create_model

    keys = {key: (kind, ... if key in required else None) for key, kind in types.items()}
    return create_model(name, __config__=STRICT, **keys)  # type: ignore[call-overload]


def _types(kind: type, experiment: str = "") -> dict[str, Any]:
    """The types of the values of a dataclass's fields, as YAML gives them."""
    types = {}
    for name, own in described(kind).items():
        allowed = own.allowed.names if own.allowed else ()
        types[name] = _type(own, tuple(declared()[experiment].names(name) if experiment else allowed))
    return types


def _type(own: Described, names: tuple[str, ...]) -> Any:
    from pydantic import AfterValidator

    if own.bare is Rounds:
        return _model("rounds", _types(Rounds), required=("at_least", "at_most"))
    if own.kind_of_entries:
        entries = Literal[names] if names else own.entries
        every: Any = Annotated[list[entries], *own.bounds, AfterValidator(_distinct)]  # type: ignore[valid-type]
        return every | _decades_model() if own.axis else every
    kind = Literal[names] if names else own.bare
    return Annotated[kind, *(own.bounds or ((Ge(0),) if kind is int else ())), None]


def _distinct(values: list[Any]) -> list[Any]:
    if len({*values}) < len(values):
        raise ValueError("has an entry twice")
    return values


@cache
def _decades_model() -> Any:
    from pydantic import AfterValidator

    point, steps = Annotated[int, Ge(1), Le(10**12)], Annotated[int, Ge(1), Le(100)]
    keys = {"from": point, "to": point, "per_decade": steps}
    return Annotated[_model("decades", keys, required=keys), AfterValidator(_rising)]


def _rising(points: Any) -> Any:
    low = getattr(points, "from")
    if points.to <= low:
        raise ValueError(f"ends before it begins; to must be greater than from ({low})")
    return points


# ---- contradictions


def _contradictions(settings: Settings, hosts: int) -> Iterator[str]:
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
    yield from plan.too_many(settings)
    if isinstance(settings, Farming):
        yield from _strangers(settings, hosts)


def _strangers(settings: Farming, hosts: int) -> Iterator[str]:
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
    if hosts > 1 and "nodes" in settings.placements and known:
        left = plan.in_placement(settings, "nodes").arms
        if len(left) < 2:
            only = f"only {left[0]!r}" if left else "none"
            yield f"arms: {only} can run across hosts; remove nodes from the placements"
