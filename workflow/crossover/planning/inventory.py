"""The launches in a folder of results: how each ended, and its settings, code and software."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crossover.planning.plan import Launch
from crossover.records.holes import PASSING

FILES = "*/*/launch=*.parquet"
"""The raw files in the folder of a tier."""


@dataclass(frozen=True)
class RawFile:
    """A raw file: its launch, and the outcome: `measured`, `hole` or `unreadable`."""

    path: str
    launch: Launch
    outcome: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The columns of `record.LAUNCHES` for this launch."""
    software: Mapping[str, str] = field(default_factory=dict)
    """Versions by name."""

    @property
    def measured(self) -> bool:
        """Whether it holds samples."""
        return self.outcome == "measured"


def launches(results: str, tier: str) -> list[RawFile]:
    """Every launch of a tier that has a raw file, sorted by experiment, placement and number."""
    found = [raw_file(path) for path in Path(results, "raw", tier).glob(FILES)]
    return sorted(found, key=lambda held: tuple(held.launch.values()))


def of_no_tier(results: str, tier: str) -> list[str]:
    """The remedy for raw files of an earlier version, whose path names no tier, as a line; none without such files."""
    files = sorted(Path(results, "raw").glob(FILES))
    if not files:
        return []
    return [
        f"left out: {len(files)} launches of an earlier version, such as {files[0]}; if they are of tier {tier}, "
        f"move the folders of their experiments to {files[0].parents[2] / tier}"
    ]


def other_tiers(results: str, tier: str, tiers: Iterable[str]) -> dict[str, int]:
    """The number of launches here of each other tier."""
    counts = {name: len(list(Path(results, "raw", name).glob(FILES))) for name in tiers if name != tier}
    return {name: count for name, count in counts.items() if count}


def launch_of(path: Path) -> Launch:
    """The launch that the path of its raw file names."""
    experiment, placement, file = path.parts[-3:]
    return {"experiment": experiment, "placement": placement, "launch": int("".join(re.findall(r"\d", file)) or 0)}


def raw_file(path: Path) -> RawFile:
    """A raw file, from its metadata."""
    # Imported only if there is a file to read, because these load slowly.
    import pyarrow as pa
    import pyarrow.parquet as pq

    from crossover.records import record

    launch = launch_of(path)
    try:
        stored = pq.read_schema(path).metadata or {}
        if stored.get(b"crossover", b"none").decode(errors="replace") not in record.READABLE:
            return RawFile(str(path), launch, "unreadable")
        facts, ranks = json.loads(stored[b"launch"]), json.loads(stored.get(b"ranks", b"[]"))
        first = ranks[0] if ranks else {}
        software = json.loads(first.get("libraries") or "{}") | ({"python": first["python"]} if ranks else {})
        return RawFile(str(path), launch, facts["outcome"], facts, software)
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
        return RawFile(str(path), launch, "unreadable")


def files(held: Iterable[RawFile], experiment: str) -> list[str]:
    """The raw files of an experiment, including holes and files that cannot be read."""
    return [each.path for each in held if each.launch["experiment"] == experiment]


def passing(held: Iterable[RawFile]) -> list[str]:
    """The raw files of holes of a PASSING kind."""
    return [each.path for each in held if each.facts.get("hole") in PASSING]


def others(kept: Iterable[RawFile], experiments: Iterable[str]) -> str:
    """A pattern for the wildcard `experiment` of `plan.RAW`: matches the launches of these experiments except `kept`.

    >>> pattern = others([RawFile("", {"experiment": "toy", "placement": "node", "launch": 2}, "measured")], ["toy"])
    >>> [bool(re.match(pattern, f"toy/node/launch={number}.parquet")) for number in (1, 2, 22)]
    [True, False, True]
    """
    numbers: dict[str, list[str]] = defaultdict(list)
    for each in kept:
        numbers["{experiment}/{placement}".format(**each.launch)].append(str(each.launch["launch"]))
    held = [rf"{re.escape(folder)}/launch=(?:{'|'.join(some)})\.parquet$" for folder, some in numbers.items()]
    return (f"(?!{'|'.join(held)})" if held else "") + f"(?:{'|'.join(experiments)})"
