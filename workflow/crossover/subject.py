"""Whether what a claim is about exists: its experiment, placement, curve, metric and arms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from typing import Any

from crossover import schema
from crossover.claimed import FILE, Claim

ANY_BURST = ", 64 MB in flight"
"""What a driver adds to the name of a curve, beside what the configuration calls it."""


def require(claims: Iterable[Claim], entrants: Iterable[str] = ()) -> None:
    """Raise ConfigError for claims about what no experiment measures, with the key and what there is instead.

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
    settings = experiments[part["experiment"]]["properties"]
    placements = settings["placements"]["items"]["enum"]
    if part["placement"] not in placements:
        yield _unknown(f"{where}placement", part["placement"], placements)
    metrics = settings.get("refine_metric", {}).get("enum")
    if metrics and part["metric"] not in metrics:
        yield _unknown(f"{where}metric", part["metric"], metrics)
    arms = [name for key in ("arms", "ceilings") for name in settings.get(key, {}).get("items", {}).get("enum", [])]
    arms = arms or list(whole["entrants"]["properties"])
    over = part.get("over", [])
    named = {"arm": [part["arm"]], "of": [part.get("of", part["arm"])]}
    named["over"] = over if isinstance(over, list) else [over] if isinstance(over, str) else []
    for key, names in named.items():
        yield from (_unknown(f"{where}{key}", name, arms) for name in names if name not in arms)
    if "curves" in settings:
        curves = settings["curves"]["items"]["enum"]
        if part["protocol"] not in curves and not any(fnmatch(curve + ANY_BURST, part["protocol"]) for curve in curves):
            yield _unknown(f"{where}protocol", part["protocol"], curves)


def _unknown(key: str, name: Any, available: Iterable[str]) -> str:
    return f"{key}: {name!r} does not exist; available: {', '.join(available)}"
