"""Names in the configuration for several keys of a curve at once, such as `PUSH/PULL over ipc, polled`."""

from itertools import product
from typing import Any

from crossover.design import protocol
from crossover.design.protocol import label

TRANSPORTS = {"process": ("inproc",), "node": ("tcp", "ipc"), "nodes": ("tcp",)}
"""ZeroMQ's transports that work in each placement."""

_CHOICES: tuple[dict[str, tuple[Any, ...]], ...] = (
    {"pattern": ("PUSH/PULL", "DEALER/ROUTER"), "transport": protocol.TRANSPORTS, "polled": (False, True)},
    {"pattern": ("REQ/REP",), "transport": protocol.TRANSPORTS, "legacy": (False, True)},
    {"object": ("float64 array", "bytes", "list of floats", "dict"), "re_sent": (False, True)},
)

NAMED: dict[str, dict[str, Any]] = {
    label(keys): keys
    for choices in _CHOICES
    for keys in (dict(zip(choices, chosen, strict=True)) for chosen in product(*choices.values()))
}
"""The keys of each name, which is their label. The settings `curves` and `objects` list such names."""

KEY_OF = {
    "thread_levels": "thread_level",
    "players": "player",
    "patterns": "pattern",
    "payloads": "payload",
    "work": "work",
    "durations": "durations",
}
"""The key of each setting that lists values of one key."""


def keys_of(setting: str, entry: str) -> dict[str, Any]:
    """The keys of a curve that an entry of a setting's list gives; none for other lists, such as arms.

    >>> keys_of("objects", "float64 array, re-sent"), keys_of("players", "engine"), keys_of("arms", "copy")
    ({'object': 'float64 array', 're_sent': True}, {'player': 'engine'}, {})
    """
    if setting in ("curves", "objects"):
        return NAMED[entry]
    return {KEY_OF[setting]: entry} if setting in KEY_OF else {}


def in_placement(names: list[str], placement: str) -> dict[str, dict[str, Any]]:
    """The keys of the named curves that work in `placement`, by name.

    >>> list(in_placement(["PUSH/PULL over ipc", "PUSH/PULL over tcp", "PUSH/PULL over inproc"], "nodes"))
    ['PUSH/PULL over tcp']
    """
    return {name: NAMED[name] for name in names if NAMED[name]["transport"] in TRANSPORTS[placement]}


def across_hosts(names: list[str]) -> list[str]:
    """The names of these curves across hosts: tcp replaces ipc, and inproc is left out.

    >>> across_hosts(["REQ/REP over ipc, legacy", "REQ/REP over ipc", "REQ/REP over tcp", "REQ/REP over inproc"])
    ['REQ/REP over tcp, legacy', 'REQ/REP over tcp']
    """
    replaced = [
        label(NAMED[name] | {"transport": "tcp"}) if NAMED[name]["transport"] == "ipc" else name for name in names
    ]
    return list(in_placement(replaced, "nodes"))
