"""The payload of MPI messages: an object of a kind and length, its inbox, and the check of received objects."""

from typing import Any, NamedTuple

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

ARRAY = "float64 array"
BUFFERS = (ARRAY, "bytes")
"""Objects that are one piece of memory, and can be sent without pickling."""

MARK = 1
"""The bit of an array's last byte that marks the last message."""


class Kind(NamedTuple):
    """The keys of a curve that its payload depends on."""

    object: str
    re_sent: bool = False
    """Whether an array is received into the memory that it is sent from."""


class Payload:
    """An object of `elements` elements, with random content that is the same on all ranks.

    A `bytes` object has as many bytes as an array of that length, a list as many floats, a dict as many entries.
    `bytes_out` is its memory or, for a list or dict, its pickle of `pickled_bytes` bytes. `inbox` has the same size.
    """

    def __init__(self, name: str, elements: int):
        numbers = np.random.default_rng(elements).random(elements)
        self.message: Any = _message(name, numbers)
        pickled = MPI.pickle.dumps(self.message)
        self.pickled_bytes = len(pickled)
        self.bytes_out: NDArray[np.uint8] = np.frombuffer(self.message if name in BUFFERS else pickled, np.uint8)
        self.bytes_in: NDArray[np.uint8] = np.empty(len(self.bytes_out), np.uint8)
        self.inbox: NDArray[Any] = self.bytes_in.view(np.float64) if name == ARRAY else self.bytes_in

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
    marks its array before the last answer, because rank 0 must not end with the content that it sent first. A pickled
    array arrives as another object, and the rank sends its own array again.
    """

    def __init__(self, elements: int, rank: int):
        super().__init__(ARRAY, elements)
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


def payload(kind: Kind, elements: int, rank: int) -> Payload:
    """The payload at the end `rank`, 0 or 1."""
    return ReSent(elements, rank) if kind.re_sent else Payload(kind.object, elements)


def _marked(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    found = numbers.copy()
    found.view(np.uint8)[-1] ^= MARK
    return found


def _message(name: str, numbers: NDArray[np.float64]) -> Any:
    match name:
        case "float64 array":
            return numbers
        case "bytes":
            return numbers.tobytes()
        case "list of floats":
            return numbers.tolist()
        case "dict":
            return {f"entry {place}": number for place, number in enumerate(numbers.tolist())}
        case _:
            raise ValueError(f"no such kind of object: {name}")
