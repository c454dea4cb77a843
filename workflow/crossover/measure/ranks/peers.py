"""The ranks of a launch: their facts, checks of their placement, and their communication between blocks.

A rank that waits in a blocking MPI call spins, and takes a core from the measurement. So ranks use MPI only to meet and
to exchange a few start-up facts, with waits that sleep. Commands for blocks go over ZeroMQ PAIR sockets, whose wait
sleeps in the kernel.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, cast

import zmq

from crossover.measure.ranks import ending
from crossover.measure.ranks.channel import Admission, Channel, connect, within
from crossover.measure.ranks.network import launcher
from crossover.records import holes
from crossover.records.holes import HoleKind, Refusal

if TYPE_CHECKING:
    from mpi4py import MPI

SUCH_AS = ", such as srun --mpi=pmi2"
"""The end of the remedy for a wrong placement; most errors add options to it."""


class Alone:
    """The communicator of a single rank, on a host where MPI cannot start."""

    rank, size = 0, 1

    def Barrier(self) -> None:
        """Wait for nobody."""

    def allgather(self, own: Any) -> list[Any]:
        """The only value."""
        return [own]

    def bcast(self, own: Any) -> Any:
        """The same value."""
        return own


class Peers:
    """The ranks of this launch, from the side of one of them."""

    def __init__(self, placement: str, expected: int, hosts: int, gather: Callable[[], dict[str, Any]]):
        """Meet the other ranks, and check that there are `expected` ranks on `hosts` hosts.

        `gather` returns the provenance of its rank; `ranks` then holds that of all ranks, on every rank.
        Raises Refusal (WRONG_SETUP) if ranks are missing or on the wrong hosts.
        """
        alone = expected == 1 and len(socket.gethostname()) > holes.HOST_NAME_CHARACTERS
        self.comm = cast("MPI.Intracomm", Alone()) if alone else _world()
        # Processes that a rank starts inherit this, so that they can import MPI without becoming a rank.
        os.environ["MPI4PY_RC_INITIALIZE"] = "false"
        self.rank, self.size = self.comm.rank, self.comm.size
        self.placement = placement
        _forget_files(self.comm)
        if self.size != expected:
            raise _misplaced(
                f"{self.size} rank(s) met instead of {expected}, because the launcher and this MPI use different "
                "process-management protocols",
                " (for MPICH srun --mpi=pmi2, for Open MPI srun --mpi=pmix)",
            )
        self.ranks: list[dict[str, Any]] = [
            {"rank": rank} | facts for rank, facts in enumerate(self.comm.allgather(gather()))
        ]
        first = self.comm.bcast(os.getpid())
        if self.rank and self.hosts[self.rank] == self.hosts[0]:
            ending.die_soon_after(first)
        self.address: str = self.ranks[self.rank]["address"]
        """The address on which this rank listens: the loopback, unless the ranks are on several hosts."""
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
        if len(found) > 1:
            amount = "many" if len(found) > count else "few"
            cause = f"the job has too {amount} nodes, or an option of the launcher sets another distribution"
        else:
            cause = f"the launcher uses one host only, as mpiexec does, or the job does not have {count} nodes"
        raise _misplaced(
            f"placement `{self.placement}` needs {count} host(s), but the ranks are on {', '.join(found)}: {cause}"
        )

    def require_apart(self) -> None:
        """Raise Refusal if ranks that should be on several hosts share one."""
        if self.placement == "nodes" and len(set(self.hosts)) < self.size:
            reason = f"both ends are on {self.hosts[0]}, because the launcher fills one host before the next"
            raise _misplaced(reason, f"{SUCH_AS} --distribution=cyclic")

    def among(self, ranks: Sequence[int]) -> Peers:
        """These ranks as a separate group, numbered from 0 in this order. Each of them must call this, and spins until
        all have.
        """
        chosen = copy(self)
        # The tag distinguishes groups that are created at the same time.
        chosen.comm = self.comm.Create_group(self.comm.Get_group().Incl(ranks), tag=ranks[-1])
        chosen.rank, chosen.size = chosen.comm.rank, chosen.comm.size
        chosen.ranks = [self.ranks[rank] for rank in ranks]
        return chosen

    def require_processors(self, count: int) -> None:
        """Raise Refusal if a rank may use fewer than `count` logical processors of a host that has more."""
        for rank in self.ranks:
            free = len(rank["affinity"].split(","))
            if free < min(count, rank["logical_cpus"]):
                raise _misplaced(
                    f"rank {rank['rank']} may use only {free} of its job's {count} logical processors on "
                    f"{rank['host']}, because the launcher binds ranks, so a rank's threads and servers would share "
                    "them",
                    f"{SUCH_AS} --cpu-bind=none or mpiexec --bind-to none (bindings set there are respected)",
                )

    def require_thread_level(self, level: str) -> None:
        """Raise Refusal unless MPI runs at exactly this thread level, by mpi4py's name (`multiple`, ...)."""
        if (given := thread_level()) != level:
            raise Refusal(
                HoleKind.WRONG_SETUP,
                f"MPI runs at thread level {given} instead of {level}; set {given} in `thread_levels`",
            )

    def send(self, value: Any, to: int) -> None:
        """Send a start-up fact to another rank; sleeps until the rank has received it."""
        _sleep_until(self.comm.isend(value, dest=to).test)

    def receive(self, source: int = 0) -> Any:
        """Wait for a start-up fact from another rank; sleeps meanwhile."""
        return _sleep_until(self.comm.irecv(1 << 20, source=source).test)

    def channel(self, to: int) -> Channel:
        """A command channel between this rank and rank `to`; both must call this, in the same order.

        It lasts as long as the process, in a separate context that no experiment can disturb. Raises Refusal
        (DISTURBED) if the ranks cannot connect.
        """
        context: zmq.Context[Any] = zmq.Context()
        channel = Channel(context, self.address)
        socket = channel.socket
        if self.rank > to:
            # Messages of a channel are unpickled, and anybody on the network can connect.
            admission = Admission(context)
            admission.guard(socket)
            socket.bind(f"tcp://{self.address}:*")
            self.send((socket.getsockopt_string(zmq.LAST_ENDPOINT), admission.password), to)
            admission.await_word(socket)
            admission.close()
        else:
            connect(socket, *self.receive(to))
            socket.send(b"connected")
        return channel

    def other_end(self, context: zmq.Context[Any], serve: Callable[[zmq.Context[Any], Channel], None]) -> Channel:
        """A channel to the other end of a two-sided experiment: rank 1, or in placement `process` a thread.

        The thread shares `context` and runs `serve`, which rank 1 would run. If the thread fails, the process ends.
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


def _world() -> MPI.Intracomm:
    """All ranks of this launch."""
    # Imported here, because the import starts MPI, and processes that are no ranks import this module too.
    from mpi4py import MPI

    return MPI.COMM_WORLD.Dup()


def _misplaced(reason: str, remedy: str = SUCH_AS) -> Refusal:
    return Refusal(HoleKind.WRONG_SETUP, f"{reason}; {launcher(remedy)}")


def thread_level() -> str:
    """The thread level of this process's MPI, by mpi4py's name; `none` if MPI has not started."""
    from mpi4py import MPI

    if not MPI.Is_initialized():
        return "none"
    names = ("single", "funneled", "serialized", "multiple")
    return {getattr(MPI, f"THREAD_{name.upper()}"): name for name in names}[MPI.Query_thread()]


def _sleep_until(test: Callable[[], tuple[bool, Any]]) -> Any:
    while True:
        done, value = test()
        if done:
            return value
        time.sleep(0.002)


def _forget_files(comm: MPI.Intracomm) -> None:
    """Unlink MPICH's files when every rank has opened or read them, so that no abnormal end leaves them behind."""
    comm.Barrier()
    ending.forget_topology()
    ending.unlink(ending.mpich_memory(os.getpid()))
    comm.Barrier()
