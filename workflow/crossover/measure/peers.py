"""Ranks: who they are, whether they are where they should be, how they talk between blocks.

A rank that waits in a blocking MPI call spins and steals a core from the measurement. So MPI is used to
find each other and to pass a few start-up facts, always with waits that sleep; blocks are commanded over
ZeroMQ PAIR sockets, whose wait sleeps in the kernel.
"""

from __future__ import annotations

import os
import re
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any, TypeVar

import psutil
import zmq
from mpi4py import MPI

from crossover.measure.channel import Channel, end, within
from crossover.measure.death import die_soon_after

T = TypeVar("T")

LOOPBACK = "127.0.0.1"


class Refusal(Exception):
    """A launch that must not be measured: `kind` is the hole's kind, the message says why and what to do."""

    def __init__(self, kind: str, reason: str):
        self.kind = kind
        super().__init__(reason)


class Peers:
    """The ranks of this launch, seen from one of them."""

    def __init__(self, placement: str, expected: int, gather: Callable[[], dict[str, Any]]):
        """Meet the other ranks and verify that the launcher did what was asked.

        `gather` is called on every rank for its provenance, which every rank then has as `ranks`.
        Raises Refusal, of kind `wrong placement`, where ranks are missing or on the wrong hosts.
        """
        self.comm = MPI.COMM_WORLD.Dup()
        self.rank, self.size = self.comm.rank, self.comm.size
        self.placement = placement
        _forget_files(self.comm)
        if self.size != expected:
            raise Refusal(
                "wrong placement",
                f"{self.size} rank(s) came up together instead of {expected}: the launcher and this MPI do not "
                "speak the same process-management protocol; set `mpi:` in the profile (try srun --mpi=pmi2)",
            )
        self.ranks: list[dict[str, Any]] = [
            {"rank": rank} | facts for rank, facts in enumerate(self.comm.allgather(gather()))
        ]
        first = self.comm.bcast((os.getpid(), self.ranks[0]["host"]))
        if self.rank and self.ranks[self.rank]["host"] == first[1]:
            die_soon_after(first[0])
        hosts = sorted({facts["host"] for facts in self.ranks})
        if placement == "node" and len(hosts) > 1:
            raise Refusal(
                "wrong placement",
                f"placement `node` wants one host, the ranks are on {', '.join(hosts)}; ask for one node",
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

    def require_thread_level(self, level: str) -> None:
        """Raise Refusal unless MPI runs at exactly this thread level, named as mpi4py names it (`multiple`, ...)."""
        found = MPI.Query_thread()
        if found != getattr(MPI, f"THREAD_{level.upper()}"):
            names = ("single", "funneled", "serialized", "multiple")
            given = next((name for name in names if getattr(MPI, f"THREAD_{name.upper()}") == found), str(found))
            raise Refusal(
                "wrong thread level",
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
            socket.bind(f"tcp://{LOOPBACK}:*")
            self.send(socket.getsockopt_string(zmq.LAST_ENDPOINT), to)
        else:
            socket.connect(self.receive(to))
        return Channel(socket)

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
    _forget_topology()
    mapped = Path("/proc/self/maps").read_text(errors="replace")
    for name in set(re.findall(r"/dev/shm/mpich_\S+", mapped)):
        if os.access(name, os.W_OK):
            Path(name).unlink(missing_ok=True)
    comm.Barrier()


def _forget_topology() -> None:
    """Unlink the file in which MPICH's launcher told its ranks what the host looks like; they have read it."""
    launcher = psutil.Process().parent()
    if launcher is None or not launcher.name().startswith("hydra"):
        return
    for file in Path("/tmp").glob("hydra_hwloc_xmlfile_*"):
        with suppress(OSError):
            facts = file.stat()
            # The name is random. A second is for the clocks of processes and files, which differ a little.
            if facts.st_uid == os.getuid() and facts.st_mtime > launcher.create_time() - 1:
                file.unlink()
