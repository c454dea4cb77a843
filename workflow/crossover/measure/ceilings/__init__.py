"""Ceilings in C, one file per library: exchanges without Python, in the processes and buffers of the Python arms.

A missing library raises `loader.UnavailableError` when the ceiling is created; a failed exchange raises OSError or
RuntimeError.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
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
