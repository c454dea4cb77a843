"""A proxy between MPICH, whose ranks meet through PMI-1, and Slurm's PMI server, which takes only short requests.

MPICH stores values up to the length that the server announces. Slurm announces 1024 bytes, but reads only 1024 bytes of
the whole request, including its key. It takes the rest for another request, and the ranks fail to meet or wait for
ever. MPICH stores a fixed 4 KB of mostly random memory and compresses zeros, so the length of a path decided whether
this happened (MPICH 5.0.2, Slurm 22.05). This proxy announces half the length.

As a command, `python pmi.py <server> <client>` relays between two open file descriptors, detached from its parent.
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
    """Start the proxy between this process and Slurm's PMI, if there is one; call this before MPI is initialised."""
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
    """Relay in both directions until one side is closed."""
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
    # A rank ends its children before MPI finalizes; the proxy must survive that.
    if os.fork() == 0:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        _relay(*map(int, sys.argv[1:]))
