"""The ranks' recorded software and hosts, as entities of an RO-Crate."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

HOST_FACTS = ("cpu", "logical_cpus", "memory_bytes", "governor", "kernel", "os", "network", "container")
"""A rank's facts about its host; columns of `record.RANKS`."""

NAME_AND_VERSION = re.compile(r"(?P<name>\D+?),?\s+(?:Version:\s*)?v?(?P<version>\d[^\s,]*)")
"""Matches versions of an interpreter or an MPI library: `MPICH Version: 5.0.2, ...`, `Open MPI v5.0.11, ...`."""


def entity(crate: ROCrate, identifier: str, properties: dict[str, Any]) -> ContextEntity:
    """Add an entity to the crate, without the properties that are empty."""
    return crate.add(ContextEntity(crate, identifier, properties={k: alone(v) for k, v in properties.items() if v}))


def alone(value: Any) -> Any:
    """The entry of a list with one entry, as the specification requires; any other value unchanged."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def slug(text: str) -> str:
    """A text as the end of an identifier."""
    return re.sub(r"[^\w.+-]+", "-", text).strip("-")


def software(
    crate: ROCrate, project: dict[str, Any], launches: list[dict[str, Any]], ranks: list[dict[str, Any]]
) -> dict[str, ContextEntity]:
    """crossover at each measuring commit, by commit; each requires the software that the ranks recorded."""
    named = sorted({library for rank in ranks for library in _libraries(rank)})
    required = [
        entity(
            crate,
            f"#{slug(f'{name} {version}')}",
            {"@type": "SoftwareApplication", "name": name, "softwareVersion": version},
        )
        for name, version in named
    ]
    commits = sorted({row["commit"] or "" for row in launches})
    return {
        commit: entity(
            crate,
            f"#crossover-{commit or 'unknown'}",
            {
                "@type": "SoftwareApplication",
                "name": "crossover",
                "description": project["title"],
                "softwareVersion": _commit(project["version"], commit),
                "license": f"https://spdx.org/licenses/{project['license']}",
                "url": project.get("repository-code"),
                "softwareRequirements": required,
            },
        )
        for commit in commits
    }


def _commit(version: str, commit: str) -> str:
    if not commit:
        return f"{version}, commit not recorded"
    return f"{version}, commit {commit.rstrip('+')}" + (", with changes" if commit.endswith("+") else "")


def _libraries(rank: dict[str, Any]) -> Iterable[tuple[str, str]]:
    yield from json.loads(rank["libraries"] or "{}").items()
    for text in filter(None, (rank["python"], rank["mpi"])):
        found = NAME_AND_VERSION.match(text)
        yield (found["name"], found["version"]) if found else (text, "")


def host(crate: ROCrate, name: str, ranks: list[dict[str, Any]]) -> ContextEntity:
    """A host with its ranks' facts about it."""
    own = [rank for rank in ranks if rank["host"] == name]
    facts = {fact: sorted({str(rank[fact]) for rank in own if rank[fact] not in (None, "")}) for fact in HOST_FACTS}
    properties = [
        entity(crate, f"#host-{name}-{fact}", {"@type": "PropertyValue", "name": fact, "value": "; ".join(values)})
        for fact, values in facts.items()
        if values
    ]
    return entity(crate, f"#host-{name}", {"@type": "Place", "name": name, "additionalProperty": properties})
