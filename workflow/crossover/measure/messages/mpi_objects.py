"""Objects over MPI: the payload, its inbox and check; and the timed loops of round trips, for ranks and engines."""

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from mpi4py import MPI
from mpi4py.util import pkl5
from numpy.typing import NDArray

ARRAY = "float64 array"
BUFFERS = (ARRAY, "bytes")
"""Objects that are one piece of memory, and can be sent without pickling."""

MARK = 1
"""The bit of an array's last byte that marks the last message."""

THRESHOLDS_BYTES = {
    "pkl5.send": pkl5.pickle.THRESHOLD,
    "pkl5.send in band": 2**62,
    "pkl5.send out of band": 0,
}
"""The size from which each arm sends a buffer outside the pickle; `pkl5.send` has mpi4py's own."""

RoundTrips = Callable[[int], tuple[float, Any]]
"""Makes n round trips; returns their seconds, and the last received object (None: it is in the payload's inbox)."""


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


def round_trips(arm: str, comm: MPI.Intracomm, payload: Payload) -> RoundTrips:
    """The round trips of `arm` at one of the two ranks of `comm`; rank 0 sends first."""
    inbox = payload.inbox
    match arm:
        case "send":
            return lambda n: _calls(comm, comm.send, comm.recv, payload, None, n)
        case "Send":
            return lambda n: _calls(comm, comm.Send, comm.Recv, payload, inbox, n)
        case "Send into new array":
            return lambda n: _calls(comm, comm.Send, lambda *of: _received(comm, *of), payload, inbox, n)
        case "pkl5.send" | "pkl5.send in band" | "pkl5.send out of band":
            return _out_of_band(comm, payload, THRESHOLDS_BYTES[arm])
        case "send into buffer":
            room = bytearray(payload.pickled_bytes)
            # recv(buf) is deprecated in mpi4py and warns at every call.
            return lambda n: _calls(comm, comm.send, lambda *of: comm.irecv(*of).wait(), payload, room, n)
        case "persistent":
            return lambda n: _persistent(comm, payload, n)
        case _:
            raise ValueError(f"no such arm: {arm}")


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


def _out_of_band(comm: MPI.Intracomm, payload: Payload, threshold_bytes: int) -> RoundTrips:
    outside = pkl5.Intracomm(comm)

    def play(n: int) -> tuple[float, Any]:
        pkl5.pickle.THRESHOLD = threshold_bytes
        return _calls(comm, outside.send, outside.recv, payload, None, n)

    return play


def _calls(
    comm: MPI.Intracomm, send: Callable[..., None], receive: Callable[..., Any], payload: Payload, buffer: Any, n: int
) -> tuple[float, Any]:
    """Round trips by a pair of calls. A received object is dropped before the next arrives, as in the tutorial."""
    message, other = payload.message, 1 - comm.rank
    began = perf_counter()
    if other == 1:
        for _ in range(n - 1):
            send(message, other)
            receive(buffer, other)
        send(message, other)
        got = receive(buffer, other)
    else:
        for _ in range(n - 1):
            receive(buffer, other)
            send(message, other)
        got = receive(buffer, other)
        payload.mark()
        send(message, other)
    return perf_counter() - began, got


def _received(comm: MPI.Intracomm, like: NDArray[Any], source: int) -> NDArray[Any]:
    """Receive an array from `source` into new memory; apart from the allocation, the same as `Recv` into an array."""
    new = np.empty_like(like)
    comm.Recv(new, source)
    return new


def _persistent(comm: MPI.Intracomm, payload: Payload, n: int) -> tuple[float, None]:
    """Round trips by requests that are set up once."""
    other = 1 - comm.rank
    going, coming = comm.Send_init(payload.message, other), comm.Recv_init(payload.inbox, other)
    first, second = (going, coming) if other == 1 else (coming, going)
    began = perf_counter()
    for _ in range(n - 1):
        first.Start()
        first.Wait()
        second.Start()
        second.Wait()
    first.Start()
    first.Wait()
    payload.mark()
    second.Start()
    second.Wait()
    seconds = perf_counter() - began
    going.Free()
    coming.Free()
    return seconds, None
