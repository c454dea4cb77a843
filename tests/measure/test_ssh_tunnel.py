"""Does the tunnel work, for its owner alone, and is there a reason if it cannot be opened?"""

import os
import pwd
import re
import socket
import subprocess
from pathlib import Path

import psutil
import pytest
from launching import eventually, listening, script
from openssh import needs_sshd

from crossover.measure.farms import ssh_tunnel
from crossover.measure.farms.ssh_tunnel import Tunnel
from crossover.measure.ranks.network import LOOPBACK
from crossover.records.holes import HoleKind, Refusal


@pytest.fixture
def target():
    """A TCP server that waits for a connection."""
    with socket.create_server((LOOPBACK, 0)) as server:
        server.settimeout(30)
        yield server


@pytest.fixture
def open_tunnel(target):
    """A tunnel to the target, and its entrance. It leaves nothing, and the user's keys unchanged."""
    before, made = ssh_folder(), Tunnel()
    made.start()
    (entry,) = made.through([target.getsockname()[1]])
    mine = of_tunnel()
    assert {process.name() for process in mine} == {"ssh", "sshd"}
    yield made, entry
    made.stop()
    assert eventually(lambda: not any(process.is_running() for process in mine))
    assert ssh_folder() == before


def of_tunnel():
    return [process for process in psutil.Process().children(recursive=True) if process.name() in ("ssh", "sshd")]


def ssh_folder():
    folder = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".ssh"
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} if folder.exists() else None


@needs_sshd
def test_an_entrance_that_a_stranger_takes_first_is_a_passing_hole(target, monkeypatch):
    made = Tunnel()
    made.start()
    with socket.socket() as stranger:

        class Taken(ssh_tunnel.Reserved):
            def __init__(self, count, address):
                super().__init__(count, address)
                stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                stranger.bind((address, self.numbers[0]))
                stranger.listen()

        monkeypatch.setattr(ssh_tunnel, "Reserved", Taken)
        with pytest.raises(Refusal) as found:
            made.through([target.getsockname()[1]])
    assert found.value.kind == HoleKind.DISTURBED
    made.stop()


@needs_sshd
def test_the_tunnel_carries_bytes_and_its_end_is_the_ssh_server_for_this_host_alone(target, open_tunnel):
    made, entry = open_tunnel
    assert entry != target.getsockname()[1]
    assert {host for process in of_tunnel() for host, _ in listening(process)} == {LOOPBACK}
    words = " ".join(word for process in of_tunnel() for word in process.cmdline())
    assert not {str(port) for port in (entry, made._port, target.getsockname()[1])} & set(re.split(r"\D+", words))
    with socket.create_connection((LOOPBACK, entry)) as client:
        client.sendall(b"over and back")
        out, (_, port) = target.accept()
        with out:
            assert out.recv(100) == b"over and back"
            holders = [
                process.name()
                for process in of_tunnel()
                for each in process.net_connections("tcp")
                if each.laddr.port == port
            ]
            assert holders and set(holders) == {"sshd"}
            out.sendall(b"thanks")
        assert client.recv(100) == b"thanks"


@needs_sshd
def test_another_key_opens_nothing(open_tunnel, tmp_path):
    made, _ = open_tunnel
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "stranger"], check=True)
    (sshd,) = {port for process in of_tunnel() if process.name() == "sshd" for _, port in listening(process)}
    for key, allowed in ((tmp_path / "stranger", False), (made._server.folder / "user_key", True)):
        options = ("BatchMode=yes", "StrictHostKeyChecking=no", f"UserKnownHostsFile={tmp_path / 'known'}")
        command = ["ssh", "-F", os.devnull, "-i", key, "-p", str(sshd), "-o", "IdentitiesOnly=yes", "-v"]
        said = subprocess.run(
            [*command, *(part for option in options for part in ("-o", option)), "-W", f"{LOOPBACK}:1", LOOPBACK],
            capture_output=True,
            text=True,
            timeout=60,
        ).stderr
        assert ("Authenticated to" in said) == allowed, said
        assert ("Permission denied (publickey)" in said) != allowed, said


# ---- if it cannot be opened


@pytest.mark.parametrize("missing", ["ssh", "sshd", "ssh-keygen"])
def test_a_missing_program_is_named_with_the_next_step(missing, tmp_path, monkeypatch):
    for name in {"ssh", "sshd", "ssh-keygen"} - {missing}:
        script(tmp_path / name, "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(ssh_tunnel, "WHERE_SERVERS_ARE", ())
    with pytest.raises(
        Refusal, match=rf"needs {missing}, which is not installed; install OpenSSH.*or remove"
    ) as caught:
        Tunnel()
    assert caught.value.kind == "wrong set-up"


def test_a_server_that_does_not_start_is_refused_with_its_own_message(tmp_path, monkeypatch):
    script(tmp_path / "ssh", "exit 0")
    script(tmp_path / "ssh-keygen", "exit 0")
    script(tmp_path / "sshd", "echo 'Missing privilege separation directory: /run/sshd' >&2; exit 255")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    made = Tunnel()
    with pytest.raises(Refusal, match=r"sshd cannot run: Missing privilege separation directory.*correct that, or"):
        made.start()
