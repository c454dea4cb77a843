"""Ranks: who they are, whether they are where they should be, how they talk between blocks.

A rank that waits in a blocking MPI call spins and steals a core from the measurement. So MPI is used to
find each other and to pass a few start-up facts, always with waits that sleep; blocks are commanded over
ZeroMQ PAIR sockets, whose wait sleeps in the kernel.
"""

from __future__ import annotations

import os
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

import zmq

from crossover.measure.processes import mpich_files
from crossover.measure.processes.ending import die_soon_after
from crossover.measure.ranks.channel import Channel, end, within
from crossover.measure.ranks.network import LAUNCHER
from crossover.records.holes import HoleKind, Refusal

if TYPE_CHECKING:
    from mpi4py import MPI

T = TypeVar("T")


class Peers:
    """The ranks of this launch, seen from one of them."""

    def __init__(self, placement: str, expected: int, hosts: int, gather: Callable[[], dict[str, Any]]):
        """Meet the other ranks and verify that the launcher did what was asked: `expected` ranks on so many hosts.

        `gather` is called on every rank for its provenance, which every rank then has as `ranks`.
        Raises Refusal (WRONG_PLACEMENT) where ranks are missing or on the wrong hosts.
        """
        # Importing it starts MPI. Drivers, and the processes that they start, import this module: they must not.
        from mpi4py import MPI

        # A process that a rank starts inherits this, and may import MPI without becoming a rank that nobody expects.
        os.environ["MPI4PY_RC_INITIALIZE"] = "false"
        self.comm = MPI.COMM_WORLD.Dup()
        self.rank, self.size = self.comm.rank, self.comm.size
        self.placement = placement
        _forget_files(self.comm)
        if self.size != expected:
            raise Refusal(
                HoleKind.WRONG_PLACEMENT,
                f"{self.size} rank(s) came up together instead of {expected}: the launcher and this MPI do not "
                f"speak the same process-management protocol; {LAUNCHER} (for MPICH srun --mpi=pmi2, for Open MPI "
                "srun --mpi=pmix)",
            )
        self.ranks: list[dict[str, Any]] = [
            {"rank": rank} | facts for rank, facts in enumerate(self.comm.allgather(gather()))
        ]
        first = self.comm.bcast((os.getpid(), self.ranks[0]["host"]))
        if self.rank and self.ranks[self.rank]["host"] == first[1]:
            die_soon_after(first[0])
        self.address: str = self.ranks[self.rank]["address"]
        """Where this rank listens for others: the loopback, unless the ranks are on several hosts."""
        self._refuse_unless_on(hosts)

    @property
    def hosts(self) -> list[str]:
        """The host of each rank."""
        return [facts["host"] for facts in self.ranks]

    @property
    def is_first_of_its_host(self) -> bool:
        """Whether no lower rank is on the same host."""
        return self.rank == self.hosts.index(self.hosts[self.rank])

    def _refuse_unless_on(self, count: int) -> None:
        found = sorted(set(self.hosts))
        if len(found) == count:
            return
        if len(found) > count:
            cause = "the job was given too many nodes, or the launcher is to choose a distribution of its own"
        elif len(found) > 1:
            cause = "the job was given too few nodes, or the launcher is to choose a distribution of its own"
        else:
            cause = f"the launcher starts all on one host, as mpiexec does, or the job was not given {count} nodes"
        raise Refusal(
            HoleKind.WRONG_PLACEMENT,
            f"placement `{self.placement}` wants {count} host(s), the ranks are on {', '.join(found)}: {cause}; "
            f"{LAUNCHER}, such as srun --mpi=pmi2",
        )

    def require_apart(self) -> None:
        """Raise Refusal where ranks that are to be on several hosts share one."""
        if self.placement == "nodes" and len(set(self.hosts)) < self.size:
            raise Refusal(
                HoleKind.WRONG_PLACEMENT,
                f"the two ends are both on {self.hosts[0]}: the launcher fills one host before the next; {LAUNCHER}, "
                "such as srun --mpi=pmi2 --distribution=cyclic",
            )

    def among(self, ranks: Sequence[int]) -> Peers:
        """These ranks as peers of their own, numbered from 0 in this order; each of them must ask for it.

        Spins until all have asked.
        """
        chosen = copy(self)
        # The tag tells it from other groups that are made at the same time.
        chosen.comm = self.comm.Create_group(self.comm.Get_group().Incl(ranks), tag=ranks[-1])
        chosen.rank, chosen.size = chosen.comm.rank, chosen.comm.size
        chosen.ranks = [self.ranks[rank] for rank in ranks]
        return chosen

    def require_processors(self, count: int) -> None:
        """Raise Refusal where a rank may use fewer than `count` logical processors of a host that has more."""
        for rank in self.ranks:
            free = len(rank["affinity"].split(","))
            if free < min(count, rank["logical_cpus"]):
                raise Refusal(
                    HoleKind.WRONG_PLACEMENT,
                    f"rank {rank['rank']} may use {free} logical processor(s) of {rank['host']}, where its job has "
                    f"{count}: the launcher binds ranks, so that the threads and servers beside a rank would share "
                    f"what is left; {LAUNCHER}, such as srun --mpi=pmi2 --cpu-bind=none or mpiexec --bind-to none "
                    "(a binding that is named there is taken as it is)",
                )

    def require_thread_level(self, level: str) -> None:
        """Raise Refusal unless MPI runs at exactly this thread level, named as mpi4py names it (`multiple`, ...)."""
        from mpi4py import MPI

        found = MPI.Query_thread()
        if found != getattr(MPI, f"THREAD_{level.upper()}"):
            names = ("single", "funneled", "serialized", "multiple")
            given = next((name for name in names if getattr(MPI, f"THREAD_{name.upper()}") == found), str(found))
            raise Refusal(
                HoleKind.WRONG_THREAD_LEVEL,
                f"MPI was asked for thread level {level} and runs at {given}; choose that in thread_levels",
            )

    def send(self, value: Any, to: int) -> None:
        """Hand a start-up fact to another rank; sleeps until it is taken."""
        _sleep_until(self.comm.isend(value, dest=to).test)

    def receive(self, source: int = 0) -> Any:
        """Wait, asleep, for a start-up fact from another rank."""
        return _sleep_until(self.comm.irecv(1 << 20, source=source).test)

    def channel(self, to: int) -> Channel:
        """A command channel between this rank and rank `to`; both must ask for it, in the same order.

        It lasts as long as the process, with a context of its own that no experiment can disturb.
        """
        socket = end(zmq.Context())
        if self.rank > to:
            secret = os.urandom(16)
            socket.bind(f"tcp://{self.address}:*")
            self.send((socket.getsockopt_string(zmq.LAST_ENDPOINT), secret), to)
            # What comes over a channel is unpickled, and on a network anybody may connect.
            if socket.recv() != secret:
                raise Refusal(
                    HoleKind.STRANGER, f"somebody else has connected to a channel on {self.address}; try again"
                )
        else:
            endpoint, secret = self.receive(to)
            socket.connect(endpoint)
            socket.send(secret)
        return Channel(socket, self.address)

    def other_end(self, context: zmq.Context[Any], serve: Callable[[zmq.Context[Any], Channel], None]) -> Channel:
        """A channel to the other end of a two-sided experiment: rank 1, or in placement `process` a thread.

        The thread shares `context` and runs `serve`, which rank 1 runs by itself. If it fails, the process ends.
        """
        if self.placement != "process":
            return self.channel(to=1)
        ours, theirs = within(context)

        def run() -> None:
            try:
                serve(context, theirs)
            except BaseException:
                traceback.print_exc()
                os._exit(1)

        threading.Thread(target=run, daemon=True).start()
        return ours


def _sleep_until(test: Callable[[], tuple[bool, T]]) -> T:
    while True:
        done, value = test()
        if done:
            return value
        time.sleep(0.002)


def _forget_files(comm: MPI.Intracomm) -> None:
    """Unlink MPICH's files once every rank has them open or read, so that no abnormal end leaves them behind."""
    comm.Barrier()
    mpich_files.forget_topology()
    mpich_files.forget(mpich_files.segments(os.getpid()))
    comm.Barrier()
