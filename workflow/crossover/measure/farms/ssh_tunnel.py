"""An SSH tunnel within this host: our own SSH server, and a client that forwards ports.

The server listens on the loopback only. It accepts only a key that was made for this tunnel, and forwards only to the
loopback. It runs as this user, without root. Server and client read no configuration or keys of the user or the system.
Both end with rank 0.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from crossover import programs
from crossover.measure.farms.server import Server
from crossover.measure.ranks.network import LOOPBACK, Reserved
from crossover.records.holes import HoleKind, Refusal

WHERE_SERVERS_ARE = ("/usr/sbin", "/usr/local/sbin", "/sbin")
"""Folders that a user's path often lacks."""

CONFIGURATION = """\
ListenAddress {address}:{port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
AuthenticationMethods publickey
UsePAM no
# Strict modes refuse keys below a folder that others can write to, as the parent of temporary folders is.
StrictModes no
PidFile none
AllowTcpForwarding local
PermitOpen {address}:*
PermitTTY no
X11Forwarding no
AllowAgentForwarding no
"""

OR_ELSE = "or remove the arms with `ssh: true`"


class Tunnel:
    """An SSH server, and a client once there are ports to forward."""

    def __init__(self) -> None:
        """Raises Refusal if OpenSSH is not installed."""
        self._programs = {name: _program(name) for name in ("ssh", "sshd", "ssh-keygen")}
        self._reserved = Reserved(1, LOOPBACK)
        (self._port,) = self._reserved.numbers

    def start(self) -> None:
        """Start the server, without waiting for it. Raises Refusal if sshd cannot run."""
        self._server, self._client = Server("SSH server"), Server("SSH client")
        folder = self._server.folder
        for name in ("host_key", "user_key"):
            options = ("-q", "-N", "", "-C", "crossover", "-t", "ed25519", "-f", str(folder / name))
            programs.run([self._programs["ssh-keygen"], *options]).check_returncode()
        configuration = folder / "sshd_config"
        configuration.write_text(
            CONFIGURATION.format(address=LOOPBACK, port=self._port, folder=folder), encoding="utf-8"
        )
        sshd = self._programs["sshd"]
        checked = programs.run([sshd, "-t", "-f", configuration])
        if checked.returncode:
            raise Refusal(HoleKind.WRONG_SETUP, f"sshd cannot run: {checked.stderr.strip()}; correct that, {OR_ELSE}")
        self._server.start(["-D", "-e", "-f", str(configuration)], program=sshd)

    def through(self, ports: Sequence[int]) -> list[int]:
        """Forward a new port of the loopback to each of `ports`; returns the new ports, in the same order.

        Raises Refusal if the client cannot log in or forward.
        """
        folder = self._server.folder
        known = folder / "known_hosts"
        known.write_text(
            f"[{LOOPBACK}]:{self._port} {(folder / 'host_key.pub').read_text(encoding='utf-8')}", encoding="utf-8"
        )
        self._forwarded = Reserved(len(ports), LOOPBACK)
        entries = self._forwarded.numbers
        options = {
            "Port": self._port,
            "IdentityFile": folder / "user_key",
            "BatchMode": "yes",
            "IdentitiesOnly": "yes",
            "IdentityAgent": "none",
            "StrictHostKeyChecking": "yes",
            "UserKnownHostsFile": known,
            "GlobalKnownHostsFile": "none",
            "ExitOnForwardFailure": "yes",
            # One attempt per second, because the server may have just been started.
            "ConnectionAttempts": 20,
        }
        forwards = [
            f"LocalForward {LOOPBACK}:{entry} {LOOPBACK}:{port}" for entry, port in zip(entries, ports, strict=True)
        ]
        # In a file, because every user of the host can read a command line, and take a port before the client listens.
        configuration = folder / "ssh_config"
        configuration.write_text(
            "\n".join([*(f"{key} {value}" for key, value in options.items()), *forwards]), encoding="utf-8"
        )
        self._client.start(["-N", "-F", str(configuration), LOOPBACK], program=self._programs["ssh"])
        # The ports are bound in this order, all or none.
        self._client.wait_for(lambda: self._client.require_listening(entries[-1]))
        return entries

    def stop(self) -> None:
        """End the client, then the server."""
        self._client.stop()
        self._server.stop()


def _program(name: str) -> str:
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *WHERE_SERVERS_ARE])
    found = shutil.which(name, path=path)
    if found is None:
        reason = f"an SSH tunnel needs {name}, which is not installed; install OpenSSH's server and client, {OR_ELSE}"
        raise Refusal(HoleKind.WRONG_SETUP, reason)
    # sshd must be called by its full path.
    return str(Path(found).absolute())
