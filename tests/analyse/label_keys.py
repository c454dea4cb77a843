"""The keys of a curve by its label, so that tests can name curves by labels alone."""

import json
import re
from collections.abc import Callable
from typing import Any

from crossover.design.protocol import BINDINGS, PRELUDES

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
    "binding": (r", (a core each|both on one core|unpinned)", {v: k for k, v in BINDINGS.items()}.get),
    "prelude": (r", (sender waits|sender works|after a pause|back to back)", {v: k for k, v in PRELUDES.items()}.get),
    "duration_us": (r", (\S+) ms each", lambda milliseconds: round(float(milliseconds) * 1000)),
    "engines": (r", engines: (\d+)", int),
    "tasks_per_engine": (r", tasks per engine: (\d+)", int),
    "cores": (r", cores: (\d+)", int),
    "senders": (r", senders: (\d+)", int),
    "flood_tasks": (r"^(\d+)(?= tasks echo)|(?<=, tasks in a flood: )(\d+)", int),
}
"""For each key, the pattern of its value in a label, and the conversion of the value."""


def keys(protocol: str) -> dict[str, Any]:
    """The keys of a curve with this label; none for another text.

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
        found["legacy"] = ", legacy" in protocol
    if "object" in found:
        found["re_sent"] = ", re-sent" in protocol
        found["player"] = "engine" if ", between engines" in protocol else "rank"
        found["memory"] = "kept" if protocol.endswith(", kept memory") else "fresh"
    options: dict[str, dict[str, Any]] = {}
    for option, name, value in re.findall(r", (packer|hwm) of (.+?): (\w+)", protocol):
        options.setdefault(name, {})[option] = int(value) if option == "hwm" else value
    if options:
        found["entrant_options"] = json.dumps(options)
    return found
