"""The launches in a folder of results: their receipts, and raw files that have none yet."""

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


def adopt(results: str, tier: str) -> list[str]:
    """Write the receipts of raw files that have none, and say so in lines; none if there is nothing to say.

    Those are files of earlier versions, and files whose supervisor was killed before it wrote the receipt. A file that
    is older than the one in its receipt was measured again since.
    """
    folder = Path(receipt.RAW_FOLDER.format(results=results, tier=tier))
    files = sorted(folder.glob(FILES), key=receipt.stamp)
    if not files:
        return []
    held = receipts(results, tier)
    listed = {each.path: each for own in held.values() for each in own}
    known = {each.raw_file for each in listed.values()}
    written, unreadable = 0, []
    for raw in files:
        if raw in known:
            continue
        named = receipt.RAW.fullmatch(raw.stem)
        own = listed.get(_receipt_of(raw, named["digest"], int(named["turn"]))) if named else None
        if own and receipt.stamp(own.raw_file) >= receipt.stamp(raw):
            continue
        facts, ranks = _metadata(raw)
        if not facts:
            unreadable += [] if key(receipt.launch_of(raw)) in held else [raw]
            continue
        digest = named["digest"] if named else receipt.digest(read_settings(facts.get("settings")))
        file = _receipt_of(raw, digest, int(named["turn"]) if named else 0)
        if named or file not in listed:
            receipt.write(file, raw, facts, ranks)
            written += 1
    return [
        *([f"{_counted(written)} without a receipt {'has' if written == 1 else 'have'} one now"] if written else []),
        *(f"{raw}: cannot be read, so its launch counts as not measured" for raw in unreadable),
    ]


def _counted(files: int) -> str:
    return "1 raw file" if files == 1 else f"{files} raw files"


def _receipt_of(raw: Path, digest: str, turn: int) -> Path:
    """The path of the receipt of a raw file."""
    number = receipt.launch_of(raw)["launch"]
    return raw.parents[4].joinpath("launches", *raw.parts[-4:-1], f"{number}-{digest}.{turn}.json")


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
        if stored.get(b"crossover", b"none").decode(errors="replace") not in record.READABLE:
            return {}, []
        facts, ranks = (json_text.parse(stored.get(name, b"")) for name in (b"launch", b"ranks"))
        return (facts, ranks) if facts["outcome"] else ({}, [])
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
        return {}, []


def latest(receipts: Sequence[Receipt]) -> Receipt | None:
    """The receipt to report on, of all receipts of a launch: the last measured one, or the last hole."""
    own = [each for each in receipts if each.complete]
    return max(own, key=lambda each: (each.measured, each.written), default=None)


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
    """The number of measured launches here of each other tier."""
    counts = {
        name: len({key(receipt.launch_of(raw)) for raw in Path(results, "raw", name).glob(FILES)})
        for name in tiers
        if name != tier
    }
    return {name: count for name, count in counts.items() if count}
