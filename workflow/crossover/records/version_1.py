"""Reads tables of schema version 1, which have a `protocol` but no columns for its keys.

No other module parses a label.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pyarrow as pa

from crossover.records.protocol import KEYS

TEXTS = {
    "library_version": r"^libzmq ([\d.]+)",
    "pattern": r"(\w+/\w+) over \w+",
    "transport": r"\w+/\w+ over (\w+)",
    "payload": r", payload (\w+)",
    "object": r"^(.+?)(?:, re-sent)?, thread level ",
    "thread_level": r", thread level (\w+)",
    "durations": r", (\w+) durations",
    "packer": r", packer: (\w+)",
}
NUMBERS = {
    "window_messages": r"(\d+) messages or ",
    "message_bytes": r", messages of (\d+) B",
    "engines": r", engines: (\d+)",
    "tasks_per_engine": r", tasks per engine: (\d+)",
    "cores": r", cores: (\d+)",
    "senders": r", senders: (\d+)",
    "flood_tasks": r"^(\d+)(?= tasks echo)|(?<=, tasks in a flood: )(\d+)",
}
"""For each key, the pattern of its value in a label of version 1."""


def keys(protocol: str) -> dict[str, Any]:
    """The keys of a curve with this label; none for a label that is not of version 1.

    A label gives bytes in flight in whole megabytes.

    >>> keys("DEALER/ROUTER over ipc, 512 MB in flight, bursts of 0.15 s")["window_bytes"]
    512000000
    """
    found: dict[str, Any] = {name: hit for name, words in TEXTS.items() if (hit := _first(words, protocol))}
    found |= {name: int(hit) for name, words in NUMBERS.items() if (hit := _first(words, protocol))}
    if megabytes := _first(r"(\d+) MB in flight", protocol):
        found["window_bytes"] = int(megabytes) * 1_000_000
    if seconds := _first(r", bursts of (\S+) s", protocol):
        found["burst_seconds"] = float(seconds)
    if milliseconds := _first(r", (\S+) ms each", protocol):
        found["duration_us"] = round(float(milliseconds) * 1000)
    if "window_bytes" in found or "message_bytes" in found:
        found["polled"] = ", polled" in protocol
    if protocol.startswith("REQ/REP"):
        found["legacy"] = protocol.endswith(", legacy")
    if "object" in found:
        found["re_sent"] = ", re-sent" in protocol
        found["player"] = "engine" if protocol.endswith(", between engines") else "rank"
    if work := _first(r"^(empty) tasks|^tasks (sleep|spin)|^\d+ tasks (echo) an array", protocol):
        found["work"] = work
    options: dict[str, dict[str, Any]] = {}
    for option, name, value in re.findall(r", (packer|hwm) of (.+?): (\w+)", protocol):
        options.setdefault(name, {})[option] = int(value) if option == "hwm" else value
    if options:
        found["entrant_options"] = json.dumps(options)
    return found


def _first(words: str, protocol: str) -> str:
    """The first group with a match; empty if the pattern does not match."""
    hit = re.search(words, protocol)
    return next(filter(None, hit.groups()), "") if hit else ""


def with_keys(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with the columns of `schema` for keys, if it has a `protocol`."""
    if "protocol" not in table.column_names:
        return table
    coded = table["protocol"].combine_chunks().dictionary_encode()
    read = [keys(protocol) for protocol in coded.dictionary.to_pylist()]
    for field in schema:
        if field.name in KEYS:
            values = pa.array([own.get(field.name) for own in read], field.type)
            table = table.append_column(field, values.take(coded.indices))
    return table
