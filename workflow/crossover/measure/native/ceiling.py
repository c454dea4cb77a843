"""Ceilings in C: exchanges without Python, in the processes and buffers of the Python arms.

A missing library raises `loader.UnavailableError` when the ceiling is created; a failed exchange raises OSError or
RuntimeError.
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

Exchange = Callable[[Bytes, Bytes, int], float]
"""A function of (outbox, inbox, n), with buffers of equal length: makes `n` round trips, and returns their seconds."""


def address(buffer: Bytes) -> ctypes.c_void_p:
    """The address of a buffer, for C; `buffer` must be contiguous and outlive the call."""
    assert buffer.flags.c_contiguous
    return ctypes.c_void_p(buffer.ctypes.data)


def function(library: ctypes.CDLL, name: str, *types: Any, result: Any = ctypes.c_int) -> Callable[..., int]:
    """A function of a library with the types of its arguments and of its result."""
    found = library[name]
    found.argtypes, found.restype = types, result
    return found


def exchange(
    library: ctypes.CDLL,
    name: str,
    ends: Sequence[Any],
    failed: Callable[[int], Exception],
    size: Any = ctypes.c_size_t,
    result: Any = ctypes.c_int,
) -> Exchange:
    """The C function `name` of (*ends, outbox, inbox, bytes, n, *nanoseconds), whose code is 0 or an error to raise.

    `ends` are values of ctypes, and `size` is the type of the length.
    """
    types = (*map(type, ends), ctypes.c_void_p, ctypes.c_void_p, size, ctypes.c_long, ctypes.c_void_p)
    play = function(library, name, *types, result=result)

    def run(outbox: Bytes, inbox: Bytes, n: int) -> float:
        ns = ctypes.c_int64()
        if code := play(*ends, address(outbox), address(inbox), len(outbox), n, ctypes.byref(ns)):
            raise failed(code)
        return ns.value / 1e9

    return run
