"""Round trips through mpi4py: the timed loops, the same whatever the two ranks are beside that."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

from mpi4py import MPI
from mpi4py.util import pkl5

from crossover.measure.payload import Payload, ReSent

Game = Callable[[int], tuple[float, Any]]
"""Plays n round trips; returns their seconds and what came last (None: see the payload's inbox)."""


def game(arm: str, comm: MPI.Intracomm, payload: Payload) -> Game:
    """What plays `arm` on either rank of `comm`, which has two: rank 0 begins."""
    message, inbox = payload.message, payload.inbox
    mark = payload.mark if isinstance(payload, ReSent) and comm.rank == 1 else None
    calls = partial(_re_sent, mark=mark) if isinstance(payload, ReSent) else _calls
    match arm:
        case "send":
            return lambda n: calls(comm, comm.send, comm.recv, message, None, n)
        case "Send":
            return lambda n: calls(comm, comm.Send, comm.Recv, message, inbox, n)
        case "pkl5.send":
            outside = pkl5.Intracomm(comm)
            return lambda n: calls(comm, outside.send, outside.recv, message, None, n)
        case "send into buffer":
            room = bytearray(payload.pickled_bytes)
            # recv(buf) is deprecated in mpi4py, and warns at every call.
            return lambda n: calls(comm, comm.send, lambda *of: comm.irecv(*of).wait(), message, room, n)
        case "persistent":
            return lambda n: _persistent(comm, message, inbox, n, mark)
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


def _re_sent(
    comm: MPI.Intracomm,
    send: Callable[..., None],
    receive: Callable[..., Any],
    message: Any,
    buffer: Any,
    n: int,
    mark: Callable[[], None] | None,
) -> tuple[float, Any]:
    """The same, but an object that came is dropped before the next is received; rank 1 marks what it sends last."""
    other = 1 - comm.rank
    began = perf_counter()
    if mark is None:
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
        mark()
        send(message, other)
    return perf_counter() - began, got


def _persistent(
    comm: MPI.Intracomm, message: Any, inbox: Any, n: int, mark: Callable[[], None] | None
) -> tuple[float, None]:
    """Round trips by calls set up once; the end that has a `mark` makes it before it sends for the last time."""
    other = 1 - comm.rank
    going, coming = comm.Send_init(message, other), comm.Recv_init(inbox, other)
    first, second = (going, coming) if other == 1 else (coming, going)
    began = perf_counter()
    for _ in range(n if mark is None else n - 1):
        first.Start()
        first.Wait()
        second.Start()
        second.Wait()
    if mark is not None:
        first.Start()
        first.Wait()
        mark()
        second.Start()
        second.Wait()
    seconds = perf_counter() - began
    going.Free()
    coming.Free()
    return seconds, None
