"""Checks that a claim's experiment, placement, keys, metric and arms exist.

The schema lists the keys of each experiment's curves under `x-keys`, each with its values or ANY.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from crossover.config import schema
from crossover.config.claim_list import FILE, Claim
from crossover.records.protocol import KEYS, Keys

ANY = "any"
"""Stands for every value of a key's type."""

WORDS: dict[type, str] = {str: "text", int: "whole number", float: "number", bool: "true or false"}
"""The name of each type in messages."""


def require(claims: Iterable[Claim], entrants: Iterable[str] = ()) -> None:
    """Raise CrossoverError for claims that no experiment measures, with the faulty keys and the available names.

    `entrants` are names of task farms that the configuration adds to those of the schema.
    """
    whole = schema.read_schema()["properties"]
    known = {**whole["entrants"]["properties"], **dict.fromkeys(entrants)}
    schema.refuse(
        f"{FILE.parent.name}/{FILE.name}: claims.{claim['claim']}.quantity.{fault}"
        for claim in claims
        for fault in _faults(claim["quantity"], whole["experiments"]["properties"], known)
    )


def _faults(quantity: Mapping[str, Any], experiments: Mapping[str, Any], entrants: Mapping[str, Any]) -> Iterator[str]:
    yield from _of_part(quantity, experiments, entrants, "")
    for key in ("against", "over"):
        if isinstance(quantity.get(key), Mapping):
            yield from _of_part({**quantity, **quantity[key]}, experiments, entrants, f"{key}.")


def _of_part(
    part: Mapping[str, Any], experiments: Mapping[str, Any], entrants: Mapping[str, Any], where: str
) -> Iterator[str]:
    if part["experiment"] not in experiments:
        yield _unknown(f"{where}experiment", part["experiment"], experiments)
        return
    experiment = experiments[part["experiment"]]
    settings = experiment["properties"]
    placements = settings["placements"]["items"]["enum"]
    if part["placement"] not in placements:
        yield _unknown(f"{where}placement", part["placement"], placements)
    metrics = experiment.get("x-metrics") or settings.get("refine_metric", {}).get("enum", [])
    if metrics and part["metric"] not in metrics:
        yield _unknown(f"{where}metric", part["metric"], metrics)
    arms = [name for key in ("arms", "ceilings") for name in settings.get(key, {}).get("items", {}).get("enum", [])]
    arms = arms or list(entrants)
    over = part.get("over", [])
    named = {"arm": [part["arm"]], "of": [part.get("of", part["arm"])]}
    named["over"] = over if isinstance(over, list) else [over] if isinstance(over, str) else []
    for key, names in named.items():
        yield from (_unknown(f"{where}{key}", name, arms) for name in names if name not in arms)
    alternatives = part["where"] if isinstance(part["where"], list) else [part["where"]]
    for selected in alternatives:
        yield from strangers(selected, keys(experiment), f"{where}where")


def keys(experiment: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of an experiment's curves, each with its values or ANY, from its part of the schema."""
    return dict(experiment.get("x-keys") or dict.fromkeys(KEYS, ANY))


def strangers(where: Keys, known: Mapping[str, Any], prefix: str = "where") -> Iterator[str]:
    """Faults in the keys that select curves; the curves have the keys `known`."""
    for name, value in where.items():
        if name not in known:
            yield _unknown(prefix, name, known)
        elif known[name] == ANY:
            kinds: tuple[type, ...] = (int, float) if KEYS[name].kind is float else (KEYS[name].kind,)
            if type(value) not in kinds:
                yield f"{prefix}.{name}: {value!r} is no {WORDS[KEYS[name].kind]}"
        elif (type(value), value) not in [(type(choice), choice) for choice in known[name]]:
            named = (choice if isinstance(choice, str) else json.dumps(choice) for choice in known[name])
            yield _unknown(f"{prefix}.{name}", value, named)


def _unknown(key: str, name: Any, available: Iterable[str]) -> str:
    return f"{key}: {name!r} does not exist; available: {', '.join(available)}"
