"""Checks that a claim's experiment, placement, protocol, metric and arms exist.

The schema lists the forms of each experiment's protocols under `x-protocols`: a key in braces stands for each of its
values, a 0 for any number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from itertools import product
from typing import Any

from crossover.config import schema
from crossover.config.claim_list import FILE, Claim


def require(claims: Iterable[Claim], entrants: Iterable[str] = ()) -> None:
    """Raise ConfigError for claims about anything that no experiment measures, with the key and the available names.

    `entrants` are names of task farms that the configuration adds to those of the schema.
    """
    whole = schema.read_schema()["properties"]
    whole["entrants"]["properties"] |= dict.fromkeys(entrants)
    faults = [
        f"{FILE.parent.name}/{FILE.name}: claims.{claim['claim']}.quantity.{fault}"
        for claim in claims
        for fault in _faults(claim["quantity"], whole)
    ]
    if faults:
        raise schema.ConfigError(list(dict.fromkeys(faults)))


def _faults(quantity: Mapping[str, Any], whole: Mapping[str, Any]) -> Iterator[str]:
    yield from _of_part(quantity, whole, "")
    for key in ("against", "over"):
        if isinstance(quantity.get(key), Mapping):
            yield from _of_part({**quantity, **quantity[key]}, whole, f"{key}.")


def _of_part(part: Mapping[str, Any], whole: Mapping[str, Any], where: str) -> Iterator[str]:
    experiments = whole["experiments"]["properties"]
    if part["experiment"] not in experiments:
        yield _unknown(f"{where}experiment", part["experiment"], experiments)
        return
    experiment = experiments[part["experiment"]]
    settings = experiment["properties"]
    placements = settings["placements"]["items"]["enum"]
    if part["placement"] not in placements:
        yield _unknown(f"{where}placement", part["placement"], placements)
    metrics = experiment.get("x-metrics") or settings["refine_metric"]["enum"]
    if part["metric"] not in metrics:
        yield _unknown(f"{where}metric", part["metric"], metrics)
    arms = [name for key in ("arms", "ceilings") for name in settings.get(key, {}).get("items", {}).get("enum", [])]
    arms = arms or list(whole["entrants"]["properties"])
    over = part.get("over", [])
    named = {"arm": [part["arm"]], "of": [part.get("of", part["arm"])]}
    named["over"] = over if isinstance(over, list) else [over] if isinstance(over, str) else []
    for key, names in named.items():
        yield from (_unknown(f"{where}{key}", name, arms) for name in names if name not in arms)
    exist, wanted = protocols(experiment), part["protocol"]
    if not exist:
        return
    for protocol in [wanted] if isinstance(wanted, str) else wanted:
        if not matching(protocol, exist):
            yield _unknown(f"{where}protocol", protocol, exist)


def protocols(experiment: Mapping[str, Any]) -> list[str]:
    """The protocols of an experiment, given its part of the schema, with 0 for each number that a setting chooses.
    Empty if the schema has no `x-protocols`."""
    found = []
    for template in experiment.get("x-protocols", []):
        keys = re.findall(r"{(\w+)}", template)
        choices = [experiment["properties"][key]["items"]["enum"] for key in keys]
        found += [template.format_map(dict(zip(keys, chosen, strict=True))) for chosen in product(*choices)]
    return found


def matching(pattern: str, exist: Sequence[str]) -> list[str]:
    """Those protocols of `exist` that match a pattern, whatever the numbers in it.

    >>> matching("empty tasks, engines: 31*", ["empty tasks, engines: 0, senders: 0"])
    ['empty tasks, engines: 0, senders: 0']
    """
    return [name for name in exist if fnmatch(_zeroed(name), _zeroed(pattern))]


def _zeroed(text: str) -> str:
    return re.sub(r"\d+(?:\.\d+)*", "0", text)


def _unknown(key: str, name: Any, available: Iterable[str]) -> str:
    return f"{key}: {name!r} does not exist; available: {', '.join(available)}"
