"""The timed loops of round trips through mpi4py, for plain ranks and for engines."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from mpi4py import MPI
from mpi4py.util import pkl5
from numpy.typing import NDArray

from crossover.measure.mpi.payload import Payload

RoundTrips = Callable[[int], tuple[float, Any]]
"""Makes n round trips; returns their seconds, and the last received object (None: it is in the payload's inbox)."""


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


THRESHOLDS_BYTES = {
    "pkl5.send": pkl5.pickle.THRESHOLD,
    "pkl5.send in band": 2**62,
    "pkl5.send out of band": 0,
}
"""The size from which each arm sends a buffer outside the pickle; `pkl5.send` has mpi4py's own."""


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
