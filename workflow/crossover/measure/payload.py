"""What a message carries: an object of a kind and length, the same on every rank, and where it is received."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

BUFFERS = ("float64 array", "bytes")
"""Kinds that are one piece of memory, which can be sent as it is."""


class Payload:
    """An object of `elements` elements, of one `kind`, with random content that all ranks agree on.

    A `bytes` object has as many bytes as an array of that length, a list that many floats, a dict that many entries.
    `bytes_out` is its memory or, of a list or dict, its pickle's: `pickled_bytes` long. `inbox` has room for as much.
    """

    def __init__(self, kind: str, elements: int):
        self.kind = kind
        self.elements = elements
        numbers = np.random.default_rng(elements).random(elements)
        self.message: Any = _message(kind, numbers)
        pickled = MPI.pickle.dumps(self.message)
        self.pickled_bytes = len(pickled)
        self.bytes_out: NDArray[np.uint8] = np.frombuffer(self.message if kind in BUFFERS else pickled, np.uint8)
        self.bytes_in: NDArray[np.uint8] = np.empty(len(self.bytes_out), np.uint8)
        self.inbox: NDArray[Any] = self.bytes_in.view(np.float64) if kind == "float64 array" else self.bytes_in

    @staticmethod
    def is_buffer(kind: str) -> bool:
        """Whether objects of that kind can be sent without pickling them."""
        return kind in BUFFERS

    def empty(self) -> None:
        """Leave nothing in the inbox that could be taken for a message."""
        self.bytes_in.fill(0)

    def equals(self, got: Any) -> bool:
        """Whether `got` is this object; where it is None, whether the inbox holds its bytes."""
        if got is None:
            return np.array_equal(self.bytes_in, self.bytes_out)
        if type(got) is not type(self.message):
            return False
        return np.array_equal(got, self.message) if isinstance(got, np.ndarray) else bool(got == self.message)


def _message(kind: str, numbers: NDArray[np.float64]) -> Any:
    match kind:
        case "float64 array":
            return numbers
        case "bytes":
            return numbers.tobytes()
        case "list of floats":
            return numbers.tolist()
        case "dict":
            return {f"entry {place}": number for place, number in enumerate(numbers.tolist())}
        case _:
            raise ValueError(f"no such kind of object: {kind}")
