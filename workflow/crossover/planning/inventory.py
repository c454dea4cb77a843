"""The launches in a folder of results, by their receipts."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from crossover.design.settings import Settings, read_settings
from crossover.planning import receipt
from crossover.planning.plan import LaunchName
from crossover.planning.receipt import Receipt

FILES = "*/*/launch=*.parquet"
"""The raw files in the folder of a tier."""

Key = tuple[str, str, int]
"""Experiment, placement and number of a launch."""


def key(launch: LaunchName) -> Key:
    """What identifies a launch, whatever the order in its mapping."""
    return launch["experiment"], launch["placement"], launch["launch"]


def receipts(results: str, tier: str) -> dict[Key, list[Receipt]]:
    """The receipts of a tier by launch, those of a launch in the order in which they were written."""
    found: dict[Key, list[Receipt]] = defaultdict(list)
    folder = Path(receipt.FOLDER.format(results=results, tier=tier))
    for file in sorted(folder.glob("*/*/[0-9]*.json")):
        own = receipt.read(file)
        found[key(own.launch)].append(own)
    return {each: sorted(own, key=lambda one: one.written) for each, own in sorted(found.items())}


def settings(of: Receipt) -> Settings:
    """The settings with which a launch was measured; none if its raw file cannot be read."""
    facts, _ = _metadata(of.raw_file)
    return read_settings(facts.get("settings"))


def _metadata(raw: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The launch and the ranks in the metadata of a raw file; none if it cannot be read."""
    # Imported only if there is a file to read, because these load slowly.
    import pyarrow as pa
    import pyarrow.parquet as pq

    from crossover.records import json_text, record

    try:
        stored = pq.read_schema(raw).metadata or {}
        if stored.get(b"crossover") != str(record.VERSION).encode():
            return {}, []
        facts, ranks = (json_text.parse(stored.get(name, b"")) for name in (b"launch", b"ranks"))
        return (facts, ranks) if facts["outcome"] else ({}, [])
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
        return {}, []


def latest(receipts: Sequence[Receipt]) -> Receipt | None:
    """The receipt to report on, of all receipts of a launch: the last measured one, or the last hole."""
    own = [each for each in receipts if each.complete]
    return max(own, key=lambda each: (each.measured, each.written), default=None)


def other_tiers(results: str, tier: str, tiers: Iterable[str]) -> dict[str, int]:
    """The number of measured launches here of each other tier."""
    counts = {
        name: len({key(receipt.launch_of(raw)) for raw in Path(results, "raw", name).glob(FILES)})
        for name in tiers
        if name != tier
    }
    return {name: count for name, count in counts.items() if count}
