"""Reasons for missing data: experiments that were not launched, and launches that are holes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

Row = Mapping[Any, Any]
"""A row of record.LAUNCHES, or the same facts in the metadata of a raw file."""

Launch = TypeVar("Launch", bound=Row)


def is_hole(launch: Row) -> bool:
    """Whether a launch left no data."""
    return launch.get("outcome") == "hole"


def alike(launches: Iterable[Launch]) -> list[list[Launch]]:
    """The holes among `launches`, grouped by experiment, placement, kind and reason."""
    found: dict[tuple[str, ...], list[Launch]] = {}
    for launch in filter(is_hole, launches):
        hole = tuple(launch[name] for name in ("experiment", "placement", "hole", "reason"))
        found.setdefault(hole, []).append(launch)
    return list(found.values())


def why(launches: Sequence[Row], experiment: str, placement: str | None = None) -> str:
    """The reason why an experiment has no data (in one placement, or at all), as Markdown; empty if it has some."""
    own = [row for row in launches if row["experiment"] == experiment]
    here = [row for row in own if placement is None or row["placement"] == placement]
    if not own:
        return f"`{experiment}` has no launch in this run; list it in config/config.yaml, and run it"
    if not here and placement == "nodes":
        return "placement `nodes` needs a cluster (`snakemake --profile slurm`)"
    if not here:
        return f"`{experiment}` was not launched in placement `{placement}`"
    if all(map(is_hole, here)):
        cause = f"{here[0]['hole']}: {here[0]['reason']}".replace("`", "'")
        return f"all its launches are holes, the first because of `{cause}`"
    return ""
