"""Can a rank on one host connect to a free port of the other?"""

from __future__ import annotations

import socket
from typing import Any

import psutil

from crossover.doctor.finding import NO_PAIR, Finding, Seen, Verdict
from crossover.doctor.pair import Pair

LIMIT_SECONDS = 1.0
"""How long to try to connect; a firewall that drops what it forbids never answers."""


def look(pair: Pair) -> dict[str, list[dict[str, Any]]]:
    """What came of connecting to the first rank, by its interface, the chosen one first."""
    offered = pair.both(_offered(pair.apart))[0]
    return {"tried": [_offer(pair, each) if pair.first else _try(pair, each) for each in offered]}


def _offered(apart: bool) -> list[dict[str, Any]]:
    """The addresses of this host at which another can reach it; within a host the loopback."""
    if not apart:
        return [{"interface": "lo", "address": "127.0.0.1", "chosen": True}]
    chosen = _own_address()
    found = [
        {"interface": name, "address": each.address, "chosen": each.address == chosen}
        for name, addresses in psutil.net_if_addrs().items()
        for each in addresses
        if each.family == socket.AF_INET and (each.address == chosen or not each.address.startswith("127."))
    ]
    return sorted(found, key=lambda each: not each["chosen"])


def _own_address() -> str:
    """What this host's own name stands for; empty where that is not told."""
    try:
        return socket.gethostbyname(socket.gethostname())
    except OSError:
        return ""


def _offer(pair: Pair, offered: dict[str, Any]) -> dict[str, Any]:
    with socket.socket() as server:
        try:
            server.bind((offered["address"], 0))
            server.listen()
        except OSError as error:
            pair.tell(None)
            return offered | {"error": error.strerror or str(error)}
        pair.tell(server.getsockname()[1])
        return offered | {"error": pair.hear()}


def _try(pair: Pair, offered: dict[str, Any]) -> dict[str, Any]:
    port = pair.hear()
    if port is None:
        return {}
    try:
        socket.create_connection((offered["address"], port), timeout=LIMIT_SECONDS).close()
        pair.tell("")
    except OSError as error:
        pair.tell(error.strerror or str(error))
    return {}


def judge(seen: Seen) -> Finding:
    """An interface that does not let the other host in is a problem; the key names one that does."""
    facts, apart = seen.pair("ports")
    if not facts:
        return NO_PAIR
    tried = facts["tried"]
    open_ones = [each for each in tried if not each["error"]]
    chosen = next((each for each in tried if each["chosen"]), None)
    if chosen in open_ones and chosen is not None:
        where = f"a free port of {chosen['address']} ({chosen['interface']})"
        if not apart:
            return Finding(Verdict.OK, f"{where} can be reached; whether other hosts can be cannot be told from one")
        others = ", ".join(each["interface"] for each in open_ones if each is not chosen)
        also = f"; so can it through {others}" if others else ""
        return Finding(Verdict.OK, f"the other host can connect to {where}{also}")
    said = (
        f"the other host cannot connect to {chosen['address']} ({chosen['interface']}): {chosen['error']}"
        if chosen
        else "no interface of the host has the address that its own name stands for"
    )
    if open_ones:
        works = open_ones[0]["interface"]
        return Finding(Verdict.PROBLEM, f"{said}; through {works} it can", "interface", value=works)
    failed = ", ".join(f"{each['interface']}: {each['error']}" for each in tried)
    step = "ask the site whether a firewall stands between its nodes"
    return Finding(Verdict.PROBLEM, f"no free port of the host can be reached ({failed})", "interface", step)
