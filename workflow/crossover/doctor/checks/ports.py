"""Can a rank on one host connect to a free port of the other?"""

import socket
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
    return trouble, [asdict(each) | {"chosen": each in chosen} for each in chosen + others]


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
