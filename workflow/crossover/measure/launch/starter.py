"""Starts the ranks of a launch on one host, as an MPI launcher for MPICH.

As a command: `python -m crossover.measure.launch.starter 2 PROGRAM...`. MPICH's own `mpiexec` listens on every
network, and puts each rank into a separate session, which can cost a busy rank half of its processors
(docs/decisions/rank_starter.md).

The ranks use PMI-1 (Balaji et al., EuroMPI 2010) over socket pairs, so nothing listens on a network. By its requests,
they store and fetch values by key, and wait for each other.
"""

import os
import secrets
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from crossover.measure.ranks.ending import adopt_orphans, end_descendants


@dataclass
class Rank:
    """A rank's process, and our end of its socket pair."""

    number: int
    process: subprocess.Popen[bytes]
    socket: socket.socket
    unfinished: bytes = b""
    """The start of a line whose end has not arrived yet."""
    inside: bool = False
    """Whether the rank has initialised MPI and not finalised it."""

    def lines(self) -> Iterator[str]:
        """The complete lines since the last call. Raises EOFError if the rank has closed its socket."""
        received = self.socket.recv(1 << 16)
        if not received:
            raise EOFError
        *whole, self.unfinished = (self.unfinished + received).split(b"\n")
        yield from (line.decode() for line in whole)

    def answer(self, line: str) -> None:
        """Send one line."""
        self.socket.sendall(f"{line}\n".encode())


class Server:
    """The PMI server: the values that ranks exchange, and the ranks that wait."""

    def __init__(self, ranks: Sequence[Rank]):
        self.ranks = ranks
        self.waiting: set[int] = set()
        # MPICH names shared memory after the key space, so its name must be unique on a host.
        self.name = f"crossover-{secrets.token_hex(16)}"
        # All ranks are on one node; from this MPICH knows which ranks share memory.
        self.values = {"PMI_process_mapping": f"(vector,(0,1,{len(ranks)}))"}

    def handle(self, rank: Rank, line: str) -> None:
        """Carry out a rank's request, and answer it. Raises SystemExit if the rank aborts all ranks."""
        words = dict(word.partition("=")[::2] for word in line.split())
        match words.get("cmd"):
            case "init":
                rank.inside = True
                rank.answer("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0")
            case "get_maxes":
                rank.answer("cmd=maxes kvsname_max=64 keylen_max=64 vallen_max=1024")
            case "get_appnum":
                rank.answer("cmd=appnum appnum=0")
            case "get_universe_size":
                rank.answer(f"cmd=universe_size size={len(self.ranks)}")
            case "get_my_kvsname":
                rank.answer(f"cmd=my_kvsname kvsname={self.name}")
            case "put":
                self.values[words["key"]] = words["value"]
                rank.answer("cmd=put_result rc=0 msg=success")
            case "get" if words["key"] in self.values:
                rank.answer(f"cmd=get_result rc=0 msg=success value={self.values[words['key']]}")
            case "get":
                rank.answer("cmd=get_result rc=-1 msg=unknown_key")
            case "barrier_in":
                self.waiting.add(rank.number)
                if len(self.waiting) == len(self.ranks):
                    self.waiting.clear()
                    for each in self.ranks:
                        each.answer("cmd=barrier_out")
            case "finalize":
                rank.inside = False
                rank.answer("cmd=finalize_ack")
            case "abort":
                raise SystemExit(int(words.get("exitcode", 1)) or 1)
            case _:
                rank.answer(f"cmd={words.get('cmd')} rc=-1 msg=not_supported")


def start(number: int, count: int, command: Sequence[str]) -> Rank:
    """Start rank `number` of `count` ranks."""
    ours, theirs = socket.socketpair()
    own = {"PMI_FD": theirs.fileno(), "PMI_RANK": number, "PMI_SIZE": count}
    # The names that MPICH's launcher uses.
    own |= {"MPI_LOCALRANKID": number, "MPI_LOCALNRANKS": count}
    environment = os.environ | {key: str(value) for key, value in own.items()}
    process = subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()])
    theirs.close()
    return Rank(number, process, ours)


def serve(ranks: Sequence[Rank]) -> int:
    """Answer the ranks until all have ended, or until the first fails; returns its exit code, or 0."""
    server = Server(ranks)
    connected: dict[int, Rank] = {rank.socket.fileno(): rank for rank in ranks}
    running = {os.pidfd_open(rank.process.pid): rank for rank in ranks}
    while running:
        for ready in select.select([*connected, *running], [], [])[0]:
            if ready in connected:
                rank = connected[ready]
                try:
                    for line in rank.lines():
                        server.handle(rank, line)
                except (EOFError, OSError):
                    del connected[ready]
            elif code := _exit_code(running.pop(ready)):
                return code
    return 0


def _exit_code(rank: Rank) -> int:
    """The exit code of an ended rank, 0 for success; prints the causes that nobody else reports."""
    code = rank.process.wait()
    if code < 0:
        cause = f"was ended by signal {-code} ({signal.strsignal(-code)})"
    elif code == 0 and rank.inside:
        cause = "ended before MPI_Finalize, an error"
    else:
        return code
    print(f"rank {rank.number} on {socket.gethostname()} {cause}", file=sys.stderr, flush=True)
    return 128 - code if code < 0 else 1


def main(count: int, command: Sequence[str]) -> NoReturn:
    """Run `count` ranks of a command; leaves no process behind."""
    adopt_orphans()
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        sys.exit(serve([start(number, count, command) for number in range(count)]))
    finally:
        end_descendants()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
