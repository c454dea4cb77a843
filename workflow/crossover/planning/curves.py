"""Curves of the setting `curves`, such as `PUSH/PULL over ipc, polled`, in each placement."""

from crossover.design.protocol import Keys, label
from crossover.experiments import keys_of

TRANSPORTS = {"process": ("inproc",), "node": ("tcp", "ipc"), "nodes": ("tcp",)}
"""ZeroMQ's transports that work in each placement."""


def in_placement(names: list[str], placement: str) -> dict[str, Keys]:
    """The keys of the named curves that work in `placement`, by name.

    >>> list(in_placement(["PUSH/PULL over ipc", "PUSH/PULL over tcp", "PUSH/PULL over inproc"], "nodes"))
    ['PUSH/PULL over tcp']
    """
    return {name: _keys(name) for name in names if _keys(name)["transport"] in TRANSPORTS[placement]}


def across_hosts(names: list[str]) -> list[str]:
    """The names of these curves across hosts: tcp replaces ipc, and inproc is left out.

    >>> across_hosts(["REQ/REP over ipc, legacy", "REQ/REP over ipc", "REQ/REP over tcp", "REQ/REP over inproc"])
    ['REQ/REP over tcp, legacy', 'REQ/REP over tcp']
    """
    replaced = [
        label({**_keys(name), "transport": "tcp"}) if _keys(name)["transport"] == "ipc" else name for name in names
    ]
    return list(in_placement(replaced, "nodes"))


def _keys(name: str) -> Keys:
    return keys_of("curves", name)
