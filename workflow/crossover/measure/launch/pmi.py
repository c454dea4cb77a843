"""Between an MPI that meets its ranks through PMI-1, as MPICH does, and Slurm, which takes only short requests.

MPICH stores values as long as the server says it takes. Slurm says 1024 bytes, but reads 1024 of the whole request, key
and all: of a longer one the rest counts as another request, and the ranks fail to meet or wait for ever. MPICH stores a
fixed 4 KB with much in it that just happened to be in memory, and packs zeros; so it was the length of a path that
decided (MPICH 5.0.2, Slurm 22.05). Here the server is made to ask for half.

As a command, `python pmi.py <server> <client>` passes on what is said between two open files, and leaves its parent.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys

TAKES, SHALL_TAKE = b"vallen_max=1024", b"vallen_max=512"
CHUNK_BYTES = 1 << 16


def shorten_values() -> None:
    """Put a process between this one and Slurm's PMI; call it before MPI is initialised. Without that PMI, nothing."""
    if not {"PMI_FD", "SLURM_PROCID"} <= os.environ.keys():
        return
    server = int(os.environ["PMI_FD"])
    ours, between = socket.socketpair()
    ends = (server, between.fileno())
    subprocess.run([sys.executable, "-I", "-S", __file__, *map(str, ends)], pass_fds=ends, check=True)
    between.close()
    os.close(server)
    os.environ["PMI_FD"] = str(ours.detach())


def _relay(server: int, client: int) -> None:
    """Pass on what either says, until one of them is gone."""
    while True:
        for source in select.select([server, client], [], [])[0]:
            try:
                said = os.read(source, CHUNK_BYTES)
                if source == server:
                    os.write(client, said.replace(TAKES, SHALL_TAKE))
                else:
                    os.write(server, said)
            except OSError:
                return
            if not said:
                return


if __name__ == "__main__":
    # A rank that ends what it has started, before it takes leave of the others, must not end this.
    if os.fork() == 0:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        _relay(*map(int, sys.argv[1:]))
