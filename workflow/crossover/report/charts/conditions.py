"""Under which conditions a curve was measured, read off the names of its protocol and its arm.

They are what a published dataset states under `conditions`, by the same keys and as text.
"""

from __future__ import annotations

import re

Conditions = dict[str, str]

WORDS = {
    "pattern": r"(?:^|, )(\w+/\w+) over ",
    "transport": r" over (\w+)",
    "payload": r"payload (\w+)",
    "object": r"^(float64 array|bytes|list of floats|dict)\b",
    "thread_level": r"thread level (\w+)",
    "tasks": r"^(empty tasks|tasks sleep|tasks spin|\d+ tasks echo an array)",
    "durations": r"(equal|skewed) durations",
    "engines": r"\bengines: (\d+)",
    "tasks_per_engine": r"tasks per engine: (\d+)",
    "senders": r"senders: (\d+)",
    "packer": r", packer: (\w+)",
}
"""By condition, the words of a protocol that name its value."""

LONG_SECONDS = 1
LONG = f"{LONG_SECONDS} s or longer"
"""How a burst is said to last that is as long as pyzmq's script counts, or longer."""

SWITCHES = {
    "zmq_throughput": {"polled": ", polled"},
    "zmq_latency": {"legacy": ", legacy"},
    "mpi_pingpong": {"re_sent": ", re-sent"},
}
"""By experiment, the conditions that hold where a protocol has certain words, and only there."""

OPTIONS = {"packer": r" (json|msgpack|pickle)\b", "hwm": r" hwm (\d+)"}
"""What the name of a farm's arm adds to that of its scheduler, as its tunnel does."""
TUNNEL = " over ssh"


def of(experiment: str, protocol: str, arm: str) -> Conditions:
    """The conditions of one arm under one protocol.

    >>> of("zmq_throughput", "PUSH/PULL over ipc, 2000 messages or 64 MB in flight", "copy")
    {'polled': 'no', 'pattern': 'PUSH/PULL', 'transport': 'ipc'}
    >>> of("task_latency", "empty tasks, engines: 4, senders: 1, packer: json", "leastload hwm 1")["hwm"]
    '1'
    """
    found = {key: _switch(words in protocol) for key, words in SWITCHES.get(experiment, {}).items()}
    found |= _named(WORDS, protocol)
    if lasts := re.search(r", bursts of ([\d.]+) s", protocol):
        found["burst"] = LONG if float(lasts[1]) >= LONG_SECONDS else f"{lasts[1]} s"
    if experiment == "mpi_pingpong":
        found["players"] = "engines" if ", between engines" in protocol else "ranks"
    if experiment.startswith("task_"):
        excepted = dict(re.findall(rf", (\w+) of {re.escape(arm)}: (\w+)", protocol))
        found |= {"hwm": "0", "ssh": _switch(TUNNEL in arm)} | _named(OPTIONS, arm) | excepted
    return found


def family(arm: str) -> str:
    """An arm's name without its options.

    >>> family("leastload msgpack"), family("pure over ssh"), family("no-copy")
    ('leastload', 'pure', 'no-copy')
    """
    return re.sub("|".join([*OPTIONS.values(), TUNNEL]), "", arm)


def _named(patterns: dict[str, str], text: str) -> Conditions:
    return {key: hit[1] for key, pattern in patterns.items() if (hit := re.search(pattern, text))}


def _switch(on: bool) -> str:
    return "yes" if on else "no"
