"""Ceilings in C, one file per library: what an exchange costs without Python, in the process that Python's run in.

Messages pass through the buffers of the arms that they bound. A library that is not there raises
`loader.UnavailableError` when the ceiling is made; an exchange that fails raises OSError or RuntimeError.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

Exchange = Callable[[Bytes, Bytes, int], float]
"""Of (outbox, inbox, n), both of one length in bytes: `n` round trips, and the seconds that they took."""


def address(buffer: Bytes) -> ctypes.c_void_p:
    """Where a buffer begins, as C takes it; `buffer` must be contiguous and outlive the call."""
    assert buffer.flags.c_contiguous
    return ctypes.c_void_p(buffer.ctypes.data)


def function(library: ctypes.CDLL, name: str, *types: Any, result: Any = ctypes.c_int) -> Callable[..., int]:
    """A function of a library with the types of its arguments and of its result."""
    found = library[name]
    found.argtypes, found.restype = types, result
    return found
