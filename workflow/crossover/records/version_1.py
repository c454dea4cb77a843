"""Reads tables of earlier releases: those of schema version 1 have a `protocol` but no columns for its keys."""

import json
import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from crossover.design.protocol import KEYS

PATTERNS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "library_version": (r"^libzmq ([\d.]+)", str),
    "pattern": (r"(\w+/\w+) over \w+", str),
    "transport": (r"\w+/\w+ over (\w+)", str),
    "payload": (r", payload (\w+)", str),
    "object": (r"^(.+?)(?:, re-sent)?, thread level ", str),
    "thread_level": (r", thread level (\w+)", str),
    "durations": (r", (\w+) durations", str),
    "packer": (r", packer: (\w+)", str),
    "work": (r"^(empty) tasks|^tasks (sleep|spin)|^\d+ tasks (echo) an array", str),
    "window_messages": (r"(\d+) messages or ", int),
    # In whole megabytes.
    "window_bytes": (r"(\d+) MB in flight", lambda megabytes: int(megabytes) * 1_000_000),
    "burst_seconds": (r", bursts of (\S+) s", float),
    "message_bytes": (r", messages of (\d+) B", int),
    "duration_us": (r", (\S+) ms each", lambda milliseconds: round(float(milliseconds) * 1000)),
    "engines": (r", engines: (\d+)", int),
    "tasks_per_engine": (r", tasks per engine: (\d+)", int),
    "cores": (r", cores: (\d+)", int),
    "senders": (r", senders: (\d+)", int),
    "flood_tasks": (r"^(\d+)(?= tasks echo)|(?<=, tasks in a flood: )(\d+)", int),
}
"""For each key, the pattern of its value in a label of version 1, and the conversion of the value."""


def keys(protocol: str) -> dict[str, Any]:
    """The keys of a curve with this label; none for a label that is not of version 1.

    >>> keys("DEALER/ROUTER over ipc, 512 MB in flight, bursts of 0.15 s")["window_bytes"]
    512000000
    """
    found: dict[str, Any] = {}
    for name, (pattern, converted) in PATTERNS.items():
        if hit := re.search(pattern, protocol):
            found[name] = converted(next(filter(None, hit.groups())))
    if "window_bytes" in found or "message_bytes" in found:
        found["polled"] = ", polled" in protocol
    if protocol.startswith("REQ/REP"):
        found["legacy"] = protocol.endswith(", legacy")
    if "object" in found:
        found["re_sent"] = ", re-sent" in protocol
        found["player"] = "engine" if protocol.endswith(", between engines") else "rank"
    options: dict[str, dict[str, Any]] = {}
    for option, name, value in re.findall(r", (packer|hwm) of (.+?): (\w+)", protocol):
        options.setdefault(name, {})[option] = int(value) if option == "hwm" else value
    if options:
        found["entrant_options"] = json.dumps(options)
    return found


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


ADDED = (
    *("hosts", "job", "phases", "receipt", "exclusive", "launches_needed", "smallest_effect", "verdict"),
    *("test", "differs", "derived", "contradicts", "claimed_low", "claimed_high", "load", "ranks"),
)
"""Columns that were added later than their tables, and are null in tables of earlier releases."""

FORMER = ("undecided", "inconclusive", "not shown")
"""Verdicts that are all called `open` now."""


def with_added(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with the columns of `schema` that are in ADDED, null if it lacks them, with present verdicts."""
    for field in schema:
        if field.name in ADDED and field.name not in table.column_names:
            table = table.append_column(field, pa.nulls(table.num_rows, field.type))
    if "verdict" in table.column_names and pa.types.is_string(table["verdict"].type):
        former = pc.is_in(table["verdict"], pa.array(FORMER))
        place = table.column_names.index("verdict")
        table = table.set_column(place, "verdict", pc.if_else(former, "open", table["verdict"]))
    return table
