"""The payload of messages: an object of a kind and length, its inbox, and the check of received objects."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

RE_SENT = "float64 array, re-sent"
ARRAYS = ("float64 array", RE_SENT)
BUFFERS = (*ARRAYS, "bytes")
"""Kinds that are one piece of memory, and can be sent without pickling."""

MARK = 1
"""The bit of an array's last byte that marks the last message."""


def payload(kind: str, elements: int, rank: int) -> Payload:
    """The payload at the end `rank`, 0 or 1."""
    return ReSent(elements, rank) if kind == RE_SENT else Payload(kind, elements)


class Payload:
    """An object of `elements` elements, of one `kind`, with random content that is the same on all ranks.

    A `bytes` object has as many bytes as an array of that length, a list as many floats, a dict as many entries.
    `bytes_out` is its memory or, for a list or dict, its pickle of `pickled_bytes` bytes. `inbox` has the same size.
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
        """Clear the inbox, so that nothing in it looks like a message."""
        self.bytes_in.fill(0)

    def mark(self) -> None:
        """Change the object before the last answer, so that it differs from earlier messages; for re-sent ones."""

    def arrived(self, got: Any) -> bool:
        """Whether `got` equals this object; if it is None, whether the inbox holds its bytes."""
        if got is None:
            return np.array_equal(self.bytes_in, self.bytes_out)
        if type(got) is not type(self.message):
            return False
        return np.array_equal(got, self.message) if isinstance(got, np.ndarray) else bool(got == self.message)


class ReSent(Payload):
    """An array that is received into the memory that it was sent from, so that each received buffer is sent on.

    With the same content on both ranks, lost messages would go unnoticed. So each rank has its own content, and rank 1
    marks its array before the last answer; otherwise rank 0 would end with the content that it sent first. A pickled
    array arrives as another object; then the rank sends its own array again.
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
        """Whether `got` is the other rank's last message; if it is None, whether rank 0's array made the whole trip."""
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
