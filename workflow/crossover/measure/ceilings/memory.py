"""Copies within one process, by memcpy: a lower bound for every message that is copied."""

from __future__ import annotations

import ctypes

from crossover.measure.build import loader
from crossover.measure.ceilings import Bytes, Exchange, address, function

LIBRARY = "memory_copy"
COPIES = 2
"""Copies of a round trip: one each way."""


def pingpong() -> Exchange:
    """Round trips within this process: one copy each way, both from the outbox to the inbox."""
    types = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long, ctypes.c_void_p)
    copy = function(loader.load(LIBRARY), "memory_copy", *types, result=None)

    def exchange(outbox: Bytes, inbox: Bytes, n: int) -> float:
        ns = ctypes.c_int64()
        copy(address(outbox), address(inbox), len(outbox), n * COPIES, ctypes.byref(ns))
        return ns.value / 1e9

    return exchange
