"""Round trips through mpi4py: the timed loops, the same whatever the two ranks are beside that."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from mpi4py import MPI
from mpi4py.util import pkl5

from crossover.measure.payload import Payload

Game = Callable[[int], tuple[float, Any]]
"""Plays n round trips; returns their seconds and what came last (None: see the payload's inbox)."""


def game(arm: str, comm: MPI.Intracomm, payload: Payload) -> Game:
    """What plays `arm` on either rank of `comm`, which has two: rank 0 begins."""
    message, inbox = payload.message, payload.inbox
    match arm:
        case "send":
            return lambda n: _calls(comm, comm.send, comm.recv, message, None, n)
        case "Send":
            return lambda n: _calls(comm, comm.Send, comm.Recv, message, inbox, n)
        case "pkl5.send":
            outside = pkl5.Intracomm(comm)
            return lambda n: _calls(comm, outside.send, outside.recv, message, None, n)
        case "send into buffer":
            room = bytearray(payload.pickled_bytes)
            # recv(buf) is deprecated in mpi4py, and warns at every call.
            return lambda n: _calls(comm, comm.send, lambda *of: comm.irecv(*of).wait(), message, room, n)
        case "persistent":
            return lambda n: _persistent(comm, message, inbox, n)
        case _:
            raise ValueError(f"no such arm: {arm}")


def _calls(
    comm: MPI.Intracomm,
    send: Callable[..., None],
    receive: Callable[..., Any],
    message: Any,
    buffer: Any,
    n: int,
) -> tuple[float, Any]:
    got, other = None, 1 - comm.rank
    began = perf_counter()
    if other == 1:
        for _ in range(n):
            send(message, other)
            got = receive(buffer, other)
    else:
        for _ in range(n):
            got = receive(buffer, other)
            send(message, other)
    return perf_counter() - began, got


def _persistent(comm: MPI.Intracomm, message: Any, inbox: Any, n: int) -> tuple[float, None]:
    other = 1 - comm.rank
    going, coming = comm.Send_init(message, other), comm.Recv_init(inbox, other)
    first, second = (going, coming) if other == 1 else (coming, going)
    began = perf_counter()
    for _ in range(n):
        first.Start()
        first.Wait()
        second.Start()
        second.Wait()
    seconds = perf_counter() - began
    going.Free()
    coming.Free()
    return seconds, None
