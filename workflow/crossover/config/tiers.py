"""The tiers at which experiments are measured."""

from typing import Any

from crossover import farms
from crossover.config import schema
from crossover.design.settings import TIERS, described, entries
from crossover.experiments import declared
from crossover.planning import plan


def first(experiment: str) -> str:
    """The lowest tier at which an experiment has launches on one host by default; empty without one."""
    for tier in TIERS[1:] if experiment in declared() else ():
        if any(True for _ in plan.launches(schema.complete({"tier": tier, "experiments": {experiment: {}}}, True))):
            return tier
    return ""


def adding(experiment: str, key: str, value: object) -> str:
    """How a run gets curves of an experiment with this value of a key, in words; empty if nothing measures them."""
    if not first(experiment):
        return ""
    every: dict[str, list[Any]] = {
        name: fitting
        for name in described(declared()[experiment].settings)
        if (
            fitting := [
                entry
                for entry, keys in entries(declared()[experiment].settings, name).items()
                if keys.get(key) == value
            ]
        )
    }
    # A number, such as that of ranks, is an entry of the list of such numbers.
    for name in (key, f"{key.removesuffix('s')}_counts"):
        if isinstance(value, float) and name in described(declared()[experiment].settings):
            every[name] = [int(value)]
    for tier in TIERS[1:]:
        own = declared()[experiment].tiers.at(tier)
        if any(set(getattr(own, name)) & set(fitting) for name, fitting in every.items()):
            return f"tier {tier} measures it: make report TIER={tier}"
    for name, fitting in every.items():
        return f"name it in config/config.yaml: {experiment}: {{{name}: [{fitting[0]}, ...]}}"
    return ""


def arms(experiment: str) -> list[str]:
    """Every arm and ceiling of an experiment at any tier, and those of all task farms if it measures farms."""
    own = [declared()[experiment].tiers.at(tier) for tier in TIERS]
    every = [name for settings in own for name in (*settings.arms, *settings.ceilings)]
    if _takes_every_farm(experiment):
        every += [arm for farm in farms.declared().values() for arm in farm.arms]
    return list(dict.fromkeys(every))


def _takes_every_farm(experiment: str) -> bool:
    return declared()[experiment].farming and not declared()[experiment].names("arms")


def measuring(experiment: str, arm: str) -> str:
    """How a run gets an arm of an experiment that it lacks, in words; empty if no tier and no farm has the arm."""
    if not first(experiment):
        return ""
    for tier in TIERS[1:]:
        own = declared()[experiment].tiers.at(tier)
        if arm in (*own.arms, *own.ceilings):
            return f"tier {tier} measures it: make report TIER={tier}"
    named = f"name it in config/config.yaml: {experiment}: {{arms: [{arm}, ...]}}"
    for farm in farms.declared().values() if _takes_every_farm(experiment) else ():
        if arm in farm.arms:
            return f"make env EXTRA={farm.extra} installs it; then {named}" if farm.extra else named
    return ""
