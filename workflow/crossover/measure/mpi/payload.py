"""What a message carries: an object of a kind and length, where it is received, and what must have come."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

RE_SENT = "float64 array, re-sent"
ARRAYS = ("float64 array", RE_SENT)
BUFFERS = (*ARRAYS, "bytes")
"""Kinds that are one piece of memory, which can be sent as it is."""

MARK = 1
"""The bit of an array's last byte that tells the last message from those before it."""


def payload(kind: str, elements: int, rank: int) -> Payload:
    """An object to play with, at the end that is `rank`, 0 or 1."""
    return ReSent(elements, rank) if kind == RE_SENT else Payload(kind, elements)


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

    @staticmethod
    def is_array(kind: str) -> bool:
        """Whether objects of that kind are NumPy arrays."""
        return kind in ARRAYS

    def reset(self) -> None:
        """Leave nothing in the inbox that could be taken for a message."""
        self.bytes_in.fill(0)

    def mark(self) -> None:
        """Make the object one that was not sent before; called before the last answer. Needed where it is sent on."""

    def arrived(self, got: Any) -> bool:
        """Whether `got` is this object; where it is None, whether the inbox holds its bytes."""
        if got is None:
            return np.array_equal(self.bytes_in, self.bytes_out)
        if type(got) is not type(self.message):
            return False
        return np.array_equal(got, self.message) if isinstance(got, np.ndarray) else bool(got == self.message)


class ReSent(Payload):
    """An array that is received into the memory that it is sent from, so that a buffer which came is sent on.

    With one content on both ranks nobody could tell whether anything came. So each rank has content of its own, and
    rank 1 marks its array before it sends it for the last time: rank 0 would else be left with what it sent first.
    A pickled array comes as another object; the own one is sent again.
    """

    def __init__(self, elements: int, rank: int):
        super().__init__("float64 array", elements)
        self.kind = RE_SENT
        self.bytes_in, self.inbox = self.bytes_out, self.message
        contents = self.message.copy(), np.random.default_rng((elements, 1)).random(elements)
        self._rank, self._own = rank, contents[rank]
        self._sent_on = _marked(contents[0])
        self._pickled = _marked(contents[1]) if rank == 0 else contents[0]
        self.reset()

    def reset(self) -> None:
        """Restore this rank's own content."""
        self.message[:] = self._own

    def mark(self) -> None:
        """Change a bit on rank 1, which answers; the ceilings in C do the same."""
        if self._rank == 1:
            self.bytes_out[-1] ^= MARK

    def arrived(self, got: Any) -> bool:
        """Whether `got` is what the other rank sent last; where it is None, whether rank 0's array went all the way."""
        if got is None:
            return np.array_equal(self.message, self._sent_on)
        return isinstance(got, np.ndarray) and np.array_equal(got, self._pickled)


def _marked(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    found = numbers.copy()
    found.view(np.uint8)[-1] ^= MARK
    return found


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
