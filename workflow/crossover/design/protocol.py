"""The keys of curves, by which programs select, and their label for people, the protocol.

Each key is a column of every table that has a `protocol`. Only this module makes labels, and nothing parses them.
Every rank and every job of Snakemake loads this module, so it imports nothing slow.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Keys = Mapping[str, Any]
"""Values by the names of KEYS: those of a curve, or those that select curves."""


@dataclass(frozen=True)
class Key:
    """One key: the type of its values, their meaning, and the words for a value in a label."""

    kind: type[str] | type[int] | type[float] | type[bool]
    meaning: str
    """In a sentence, as docs/data.md has it."""
    words: str | Callable[[Keys], str] = ""
    """A format of the value, or a function of all keys of the curve; empty if another key's words include it. `False`
    has no words."""


def _sockets(keys: Keys) -> str:
    return f"{keys['pattern']} over {keys['transport']}" if "transport" in keys else str(keys["pattern"])


def _window(keys: Keys) -> str:
    messages = f"{keys['window_messages']} messages or " if "window_messages" in keys else ""
    return f"{messages}{keys['window_bytes'] // 1_000_000} MB in flight"


def _player(keys: Keys) -> str:
    return "between engines" if keys["player"] == "engine" else ""


def _work(keys: Keys) -> str:
    match keys["work"]:
        case "empty":
            return "empty tasks"
        case "echo":
            return f"{keys['flood_tasks']} tasks echo an array" if "flood_tasks" in keys else "tasks echo an array"
        case "user":
            return "a function of yours"
        case work:
            return f"tasks {work}"


def _flood(keys: Keys) -> str:
    return "" if keys.get("work") == "echo" else f"tasks in a flood: {keys['flood_tasks']}"


def _options(keys: Keys) -> str:
    entrants = json.loads(keys["entrant_options"])
    return ", ".join(f"{option} of {name}: {own[option]}" for name, own in entrants.items() for option in own)


BINDINGS: Mapping[str, str] = {"own": "a core each", "shared": "both on one core", "free": "unpinned"}
"""The cores of the two ends of a block, with the words for them."""

PRELUDES: Mapping[str, str] = {
    "wait": "sender waits",
    "work": "sender works",
    "pause": "after a pause",
    "none": "back to back",
}
"""What precedes a flood, with the words for it; earlier releases also had the first two, of round trips."""

POOLS: Mapping[str, str] = {"running": "running pool", "program": "whole program"}
"""Whether a pool is there before the first task, with the words for it."""

TRANSPORTS = ("tcp", "ipc", "inproc")
"""ZeroMQ's transports, from the one with the widest reach down."""

KEYS = {
    "library_version": Key(str, "The version of libzmq, where builds of it are compared.", "libzmq {}"),
    "pattern": Key(str, "The two sockets, such as `PUSH/PULL`.", _sockets),
    "transport": Key(str, "`tcp`, `ipc` or `inproc`."),
    "polled": Key(bool, "Whether a poller is asked before each call.", "polled"),
    "legacy": Key(
        bool, "Whether both ends send the message that they received, as pyzmq's performance script does.", "legacy"
    ),
    "window_messages": Key(int, "The most messages in flight."),
    "window_bytes": Key(int, "The most bytes in flight.", _window),
    "burst_seconds": Key(float, "How long the bursts of a block last at least.", "bursts of {:g} s"),
    "message_bytes": Key(int, "The size of a message, where it is not the axis.", "messages of {} B"),
    "payload": Key(str, "`touched` where the bytes of a message are written and read, else `untouched`.", "payload {}"),
    "object": Key(str, "The Python object that is sent, such as `float64 array`.", "{}"),
    "re_sent": Key(bool, "Whether the object is received into the memory that it was sent from.", "re-sent"),
    "thread_level": Key(str, "The thread level requested from MPI.", "thread level {}"),
    "player": Key(str, "What the two ends are: `rank`, or `engine` for an engine of ipyparallel.", _player),
    "memory": Key(str, "What large messages of MPI get: `fresh` pages, or pages that were `kept`.", "{} memory"),
    "work": Key(
        str,
        "What a task does: nothing (`empty`), return its array (`echo`), `sleep`, `spin`, or what a `user` wrote.",
        _work,
    ),
    "pool": Key(
        str,
        "Whether the pool is `running` already, or a whole `program` starts and ends it.",
        lambda k: POOLS[k["pool"]],
    ),
    "library_threads": Key(
        str,
        "The threads inside libraries: `as set` by the user, or `1` for each worker.",
        lambda keys: "one library thread" if keys["library_threads"] == "1" else "library threads as set",
    ),
    "shared": Key(
        str, "How tasks get the argument that all share: `sent` with every item, or `kept` by each worker.", "shared {}"
    ),
    "function": Key(
        str, "Where the function is defined: in a `module`, or in a `notebook`, which no worker can import.", "in a {}"
    ),
    "durations": Key(str, "Whether all tasks last `equal` or `skewed` times.", "{} durations"),
    "duration_us": Key(
        int,
        "How long each task lasts, where that is not the axis.",
        lambda keys: f"{keys['duration_us'] / 1000:g} ms each",
    ),
    "prelude": Key(
        str,
        "What precedes a flood: a `pause`, or `none` for back to back. Earlier, of round trips too: `wait`, `work`.",
        lambda keys: str(PRELUDES.get(keys["prelude"], keys["prelude"])),
    ),
    "binding": Key(
        str,
        "The cores of the two ends: `own`, a core each; `shared`, one for both; `free`, as the scheduler decides.",
        lambda keys: str(BINDINGS.get(keys["binding"], keys["binding"])),
    ),
    "ranks": Key(int, "The ranks that take part in a collective call or a tournament.", "ranks: {}"),
    "engines": Key(int, "The engines of each farm, where they are not the axis.", "engines: {}"),
    "flood_tasks": Key(int, "The tasks of one flood, where they are not the axis.", _flood),
    "tasks_per_engine": Key(int, "The tasks of one flood for each engine.", "tasks per engine: {}"),
    "cores": Key(int, "The cores that spinning tasks compete for.", "cores: {}"),
    "senders": Key(int, "The clients that submit tasks.", "senders: {}"),
    "packer": Key(
        str,
        "What ipyparallel packs messages with, unless the arm's name or `entrant_options` says otherwise.",
        "packer: {}",
    ),
    "entrant_options": Key(
        str,
        "Options of task farms that their arm's name does not show, as JSON: `{arm: {option: value}}`. Null where "
        "there are none.",
        _options,
    ),
}
"""Every key, in the order of a label's words. docs/data.md explains each."""


def label(keys: Keys) -> str:
    """The protocol of a curve with these keys. Raises ValueError for a key that is not one of KEYS.

    >>> label({"pattern": "PUSH/PULL", "transport": "ipc", "polled": False, "window_bytes": 64_000_000})
    'PUSH/PULL over ipc, 64 MB in flight'
    >>> label({"work": "sleep", "durations": "equal", "engines": 4})
    'tasks sleep, equal durations, engines: 4'
    """
    if unknown := [name for name in keys if name not in KEYS]:
        raise ValueError(
            f"unknown key {unknown[0]!r} of a curve; available: {', '.join(KEYS)}; add it to design/protocol.py"
        )
    return ", ".join(_words(keys))


def topic(keys: Keys, whole: str) -> str:
    """The first words of the label of a curve with these keys; without keys, the `whole` label that a file has.

    >>> topic({"work": "sleep", "durations": "equal", "engines": 4}, "tasks sleep, equal durations, engines: 4")
    'tasks sleep'
    """
    return next(_words(keys), whole)


def _words(keys: Keys) -> Iterator[str]:
    words = (
        key.words(keys) if callable(key.words) else key.words.format(keys[name])
        for name, key in KEYS.items()
        if keys.get(name, False) is not False
    )
    return filter(None, words)


def identity(keys: Keys) -> str:
    """The text by which stored files name the curve with these keys, or with those of a row of any table.

    It is the label for a row without keys.

    >>> identity({"transport": "ipc", "pattern": "REQ/REP", "engines": None})
    '{"pattern": "REQ/REP", "transport": "ipc"}'
    """
    own = known(keys)
    return json.dumps(own, sort_keys=True) if own else str(keys["protocol"])


def named(stored: str) -> str:
    """The label of a curve that a stored file names by its `identity`.

    >>> named('{"pattern": "REQ/REP", "transport": "ipc"}')
    'REQ/REP over ipc'
    """
    return label(json.loads(stored)) if stored.startswith("{") else stored


def known(row: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a row of any table, without the missing ones.

    A frame of pandas holds NaN for a missing value and turns the whole numbers beside it into floats.

    >>> known({"pattern": "REQ/REP", "engines": 4.0, "cores": float("nan"), "packer": None, "arm": "copy"})
    {'pattern': 'REQ/REP', 'engines': 4}
    """
    present = {name: row[name] for name in KEYS if name in row}
    return {name: KEYS[name].kind(value) for name, value in present.items() if value is not None and value == value}


def columns(row: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of all keys, from a row of any table; None where the row has no value."""
    return dict.fromkeys(KEYS) | known(row)


def holds(where: Keys, row: Mapping[str, Any]) -> bool:
    """Whether `row`, a curve's keys or a row of a table, has every value of `where`.

    >>> holds({"pattern": "REQ/REP", "legacy": False}, {"pattern": "REQ/REP", "legacy": False, "transport": "ipc"})
    True
    """
    return all(row.get(name) == value for name, value in where.items())
