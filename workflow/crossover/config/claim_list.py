"""Reads the published claims from `config/claims.yaml`; checks them, their sources and the curves that they name."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from crossover import farms
from crossover.config import published, sources, yaml_file
from crossover.design.experiment import ANY
from crossover.design.protocol import KEYS, Keys
from crossover.experiments import declared
from crossover.paths import CONFIG

FILE = CONFIG / "claims.yaml"
SCHEMA = FILE.with_name("claims.schema.yaml")
"""The schema of the claims. Its entry `kinds` has the keys that each kind of quantity needs."""
SOURCES_SCHEMA = FILE.with_name("sources.schema.yaml")

Claim = dict[str, Any]

FORMS = ({"about"}, {"gain"}, {"within"}, {"low"}, {"high"}, {"low", "high"})
"""Combinations of keys that describe the expected range."""


WORDS: dict[type, str] = {str: "text", int: "whole number", float: "number", bool: "true or false"}
"""The name of each type in messages."""


def read(file: str | Path = FILE) -> list[Claim]:
    """Every claim: `claim` (its name), `source`, its `url`, `quote`, `locator`, `says`, `test`, `unlike`, `derived`,
    `quantity`, range `low` to `high`, `published`, `claimed_low`, `claimed_high`, `equivalent`, and in `contradicts`
    other names.

    A missing end is infinite. `published` is None if the document gives no single number. The document's own range,
    if it gives one "about", goes from `claimed_low` to `claimed_high`; an end is None if it is open. `equivalent` is
    True if the range is one of equivalence. Raises CrossoverError with every fault, each with the file and the key.
    """
    content, documents = _checked(file)
    return [
        _quoted(name, claim, documents)
        | {"quantity": {"placement": "node"} | claim["quantity"]}
        | {"test": claim.get("test"), "unlike": claim.get("unlike"), "derived": claim.get("derived", False)}
        | {"contradicts": claim.get("contradicts", [])}
        | _expected(claim["expected"], content["about"])
        for name, claim in content["claims"].items()
    ]


def unjudged(file: str | Path = FILE) -> list[Claim]:
    """Claims that no measurement here can decide: `claim`, `source`, `url`, `quote`, `locator`, `says`, `reason`.

    Raises CrossoverError with every fault, each with the file and the key.
    """
    content, documents = _checked(file)
    return [
        _quoted(name, claim, documents) | {"reason": claim["reason"]} for name, claim in content["unjudged"].items()
    ]


@cache
def meanings() -> dict[str, str]:
    """A sentence on each kind of quantity."""
    return {kind: known["means"] for kind, known in yaml_file.read_yaml(SCHEMA)["kinds"].items()}


def _checked(file: str | Path) -> tuple[dict[str, Any], Mapping[str, sources.Source]]:
    documents = documented()
    content = yaml_file.read_yaml(file)
    known = yaml_file.read_yaml(SCHEMA)
    faults = yaml_file.forbidden(known, content) or list(_faults(content, known["kinds"], documents))
    yaml_file.refuse(f"{file}: {fault}" for fault in faults)
    return {"unjudged": {}, **content}, documents


def documented(file: Path = sources.FILE, folder: Path = published.FOLDER) -> Mapping[str, sources.Source]:
    """The documents by citation key. Raises CrossoverError with every fault in them or in the datasets of `folder`."""
    known, listed, described = map(yaml_file.read_yaml, (SOURCES_SCHEMA, file, folder / published.SOURCES))
    faults = [f"{file}: {fault}" for fault in yaml_file.forbidden(known, listed)]
    for name, dataset in described.items():
        wrong = yaml_file.forbidden(known["$defs"]["dataset"], dataset)
        if not wrong and dataset["source"] not in listed:
            wrong = [_stranger(dataset["source"], listed)]
        faults += [f"{folder / published.SOURCES}: {name}.{fault}" for fault in wrong]
    yaml_file.refuse(faults)
    return sources.read(file)


def _stranger(source: str, listed: Mapping[str, Any]) -> str:
    return f"source: {source!r} is not in config/sources.yaml, which has {', '.join(listed)}; add it there"


def _faults(content: Mapping[str, Any], kinds: Mapping[str, Any], documents: Mapping[str, Any]) -> Iterator[str]:
    """Faults that a JSON schema cannot express: unknown sources, contradictions, keys that exclude each other."""
    for part in ("claims", "unjudged"):
        for name, claim in content.get(part, {}).items():
            if claim["source"] not in documents:
                yield f"{part}.{name}.{_stranger(claim['source'], documents)}"
    for name in content["claims"].keys() & content.get("unjudged", {}).keys():
        yield f"unjudged.{name}: is listed under `claims` too; remove it from one of the two"
    for name, claim in content["claims"].items():
        where = f"claims.{name}"
        yield from (
            _unknown(f"{where}.contradicts", other, content["claims"])
            for other in claim.get("contradicts", [])
            if other not in content["claims"]
        )
        yield from (f"{where}.quantity.{fault}" for fault in _misfits(claim["quantity"], kinds))
        expected = claim["expected"]
        if set(expected) not in FORMS:
            both = " and ".join(expected)
            yield f"{where}.expected: {both} do not go together; give low, high or both, or about, or gain, or within"
            continue
        inner = next((ends for ends in expected.values() if isinstance(ends, Mapping)), expected)
        if inner.get("low", -math.inf) >= inner.get("high", math.inf):
            yield f"{where}.expected: low ({inner['low']}) must be less than high ({inner['high']})"


def _misfits(quantity: Mapping[str, Any], kinds: Mapping[str, Any]) -> Iterator[str]:
    kind = kinds.get(quantity["kind"])
    if kind is None:
        yield f"kind: {quantity['kind']!r} is not one of {', '.join(kinds)}"
        return
    needed, one_of = kind.get("needs", []), kind.get("one_of", [])
    own = [key for key in quantity if key not in ("kind", "experiment", "placement", "where", "metric", "arm")]
    yield from (f"{key}: is missing; a {quantity['kind']} needs it" for key in needed if key not in quantity)
    yield from (
        f"{key}: has no meaning for a {quantity['kind']}, which takes {', '.join([*needed, *one_of])}"
        for key in own
        if key not in (*needed, *one_of)
    )
    chosen = [key for key in one_of if key in quantity]
    if one_of and len(chosen) != 1:
        here = ", ".join(chosen) or "none"
        yield f"kind: a {quantity['kind']} needs exactly one of {', '.join(one_of)}; here is {here}"


def _quoted(name: str, claim: Mapping[str, Any], documents: Mapping[str, sources.Source]) -> Claim:
    words = {key: claim[key] for key in ("source", "quote", "locator", "says")}
    return {"claim": name, **words, "url": documents[claim["source"]].url}


def _expected(expected: Mapping[str, Any], about: float) -> dict[str, Any]:
    """The range, whether it is one of equivalence, and the published number or range."""
    claimed: tuple[float | None, float | None] = None, None
    match expected:
        case {"about": stated} | {"gain": stated}:
            base = 1 if "gain" in expected else 0
            ends = (stated.get("low"), stated.get("high")) if isinstance(stated, Mapping) else (stated, stated)
            claimed = ends[0] and base + ends[0], ends[1] and base + ends[1]
            low = -math.inf if ends[0] is None else base + ends[0] / about
            high = math.inf if ends[1] is None else base + ends[1] * about
        case {"within": fraction}:
            low, high = 1 / (1 + fraction), 1 + fraction
        case _:
            low, high = expected.get("low", -math.inf), expected.get("high", math.inf)
    published = claimed[0] if claimed[0] == claimed[1] else None
    return {
        **{"low": low, "high": high, "equivalent": "within" in expected, "published": published},
        **{"claimed_low": claimed[0], "claimed_high": claimed[1]},
    }


OF_RATES = ("time", "penalty", "saturation")
"""The kinds of quantities that take a rate."""


def require(claims: Iterable[Claim], entrants: Iterable[str] = ()) -> None:
    """Raise CrossoverError for claims that no experiment measures, with the faulty keys and the available names.

    `entrants` are names of task farms that the configuration adds to those of the schema.
    """
    known = {**farms.arms(), **dict.fromkeys(entrants)}
    yaml_file.refuse(
        f"config/claims.yaml: claims.{claim['claim']}.quantity.{fault}"
        for claim in claims
        for where, side in sides(claim["quantity"])
        for fault in _unmeasured(side, known, where)
    )


def sides(quantity: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """A quantity and the others that it names, each with all its keys, and with the beginning of their path."""
    yield "", quantity
    for key in ("against", "over"):
        if isinstance(quantity.get(key), Mapping):
            yield f"{key}.", {**quantity, **quantity[key]}


def _unmeasured(part: Mapping[str, Any], entrants: Mapping[str, Any], where: str) -> Iterator[str]:
    if part["experiment"] not in declared():
        yield _unknown(f"{where}experiment", part["experiment"], declared())
        return
    experiment = declared()[part["experiment"]]
    arms = (*experiment.names("arms"), *experiment.names("ceilings")) or tuple(entrants)
    metrics = tuple(metric.name for metric in experiment.metrics)
    known = {
        "placement": experiment.names("placements"),
        "metric": metrics,
        **dict.fromkeys(("arm", "of", "over"), arms),
    }
    for key, available in known.items():
        named = part.get(key, [])
        for name in [named] if isinstance(named, str) else named if isinstance(named, list) else []:
            if available and name not in available:
                yield _unknown(f"{where}{key}", name, available)
    times = [metric.name for metric in experiment.metrics if metric.unit == "s"]
    if part["kind"] in OF_RATES and part["metric"] in times:
        yield f"{where}metric: '{part['metric']}' is a time already, but kind '{part['kind']}' takes a rate"
    yield from strangers(part["where"], experiment.keys, f"{where}where")


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
