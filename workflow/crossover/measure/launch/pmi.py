"""A proxy between MPICH's ranks, which meet through PMI-1, and Slurm's PMI server, which reads only short requests.

MPICH stores values up to the length that the server announces. Slurm announces 1024 bytes, but reads only 1024 bytes of
a whole request, including its key, and treats the rest as another request. The proxy announces half the length
(docs/decisions/README.md).

As a command, `python pmi.py <server> <client>` relays between two open file descriptors, detached from its parent.
"""

import os
import select
import signal
import socket
import subprocess
import sys

THEIRS, OURS = b"vallen_max=1024", b"vallen_max=512"
"""The announced length of values, as Slurm announces it and as the proxy does."""
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
                chunk = os.read(source, CHUNK_BYTES)
                if source == server:
                    os.write(client, chunk.replace(THEIRS, OURS))
                else:
                    os.write(server, chunk)
            except OSError:
                return
            if not chunk:
                return


if __name__ == "__main__":
    # A rank ends its children before MPI finalizes; the proxy must survive that.
    if os.fork() == 0:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        _relay(*map(int, sys.argv[1:]))
