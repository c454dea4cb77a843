"""Can a rank on one host connect to a free port of the other?"""

import math
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from crossover.doctor.finding import NO_PAIR, Finding, Seen, Verdict
from crossover.doctor.pair import Pair
from crossover.measure.ranks import network
from crossover.records.holes import Refusal

LIMIT_SECONDS = 1.0
"""Time limit of a connection; a firewall that drops packets never answers."""


def look(pair: Pair) -> dict[str, Any]:
    """The results of connecting to the first rank through each of its interfaces, the chosen one first.

    If none could be chosen, `trouble` has the reason.
    """
    trouble, offered = pair.both(_offered(pair))[0]
    connect = _offer if pair.first else _try
    return {"trouble": trouble, "tried": [each | {"error": connect(pair, each["address"])} for each in offered]}


def _offered(pair: Pair) -> tuple[str, list[dict[str, Any]]]:
    """The reason if no interface can be chosen, otherwise empty; and the interfaces that another host could reach."""
    trouble, chosen = "", []
    try:
        chosen = [network.reach("nodes" if pair.apart else "node", pair.interface)]
    except Refusal as error:
        trouble = str(error)
    others = [each for each in network.interfaces() if each not in chosen] if pair.apart else []
    return trouble, [asdict(each) | _hardware(each.interface) | {"chosen": each in chosen} for each in chosen + others]


def _hardware(interface: str) -> dict[str, Any]:
    """The speed of an interface, None if unknown, and whether it has RDMA (remote memory access)."""
    device, speed = network.DEVICES / interface, 0
    with suppress(OSError, ValueError):
        speed = int((device / "speed").read_text(encoding="utf-8"))
    return {"megabits": speed if speed > 0 else None, "rdma": (device / "device/infiniband").exists()}


def _offer(pair: Pair, address: str) -> str:
    """Listen on the first rank; returns the error of either rank, empty if the second could connect."""
    with socket.socket() as server:
        try:
            server.bind((address, 0))
            server.listen()
        except OSError as error:
            pair.tell(None)
            return error.strerror or str(error)
        pair.tell(server.getsockname()[1])
        return str(pair.hear())


def _try(pair: Pair, address: str) -> str:
    error = ""
    if port := pair.hear():
        try:
            socket.create_connection((address, port), timeout=LIMIT_SECONDS).close()
        except OSError as reason:
            error = reason.strerror or str(reason)
        pair.tell(error)
    return error


def judge(seen: Seen) -> Finding:
    """An interface that the other host cannot connect to is a problem; the finding names one that works."""
    facts, apart = seen.pair("ports")
    if not facts:
        return NO_PAIR
    tried = facts["tried"]
    open_ones = [each for each in tried if not each["error"]]
    chosen = next((each for each in tried if each["chosen"]), None)
    if chosen and not chosen["error"]:
        where = f"a free port of {chosen['address']} ({chosen['interface']})"
        if not apart:
            return Finding(Verdict.OK, f"{where} can be reached here; checking from outside needs a second host")
        if better := _better(chosen, open_ones):
            text = f"ranks use {_named(chosen)}; the other host can also connect through {_named(better)}"
            step = "then ranks use the better one; if the site means it for other traffic, leave it as it is"
            return Finding(Verdict.WARNING, text, "interface", step, better["interface"])
        others = ", ".join(each["interface"] for each in open_ones if each is not chosen)
        also = f"; also through {others}" if others else ""
        return Finding(Verdict.OK, f"the other host can connect to {where}{also}")
    if open_ones:
        works, text = open_ones[0]["interface"], facts["trouble"]
        if chosen:
            text = f"the other host cannot connect to {chosen['address']} ({chosen['interface']}): {chosen['error']}"
        return Finding(Verdict.PROBLEM, f"{text}; it can through {works}", "interface", value=works)
    failed = ", ".join(f"{each['interface']}: {each['error']}" for each in tried)
    step = "ask the site whether there is a firewall between its nodes"
    return Finding(Verdict.PROBLEM, f"no free port of the host can be reached ({failed})", "interface", step)


def _better(chosen: Mapping[str, Any], open_ones: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The best interface that has RDMA where the chosen one has none, or that is faster; None without one."""
    found = [each for each in open_ones if each is not chosen and _beats(each, chosen)]
    return max(found, key=lambda each: (each["rdma"], each["megabits"] or 0), default=None)


def _beats(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether an interface is known to be better than another; an unknown speed is no reason."""
    own, others = one.get("megabits") or math.nan, other.get("megabits") or math.nan
    if one.get("rdma") != other.get("rdma"):
        return bool(one.get("rdma")) and not own < others
    return own > others


def _named(one: Mapping[str, Any]) -> str:
    """An interface with its speed and RDMA.

    >>> _named({"interface": "ib0", "megabits": 100_000, "rdma": True})
    'ib0 (100,000 Mbit/s, RDMA)'
    """
    megabits = one.get("megabits")
    speed = f"{megabits:,} Mbit/s" if megabits else "speed unknown"
    return f"{one['interface']} ({speed}, {'RDMA' if one.get('rdma') else 'no RDMA'})"
