"""Channels for commands between the two ends of an experiment, and admission to the sockets of a launch.

A wait on a channel uses no processor time. Admitted are only ends that know a password, and only until all have
connected. ZeroMQ's own PLAIN mechanism checks the password when a connection opens. Afterwards, messages are sent
exactly as without it, so the measurement is the same. docs/decisions/README.md has the evidence.
"""

import secrets
from typing import Any

import zmq
from zmq.utils.monitor import recv_monitor_message

from crossover.measure.ranks.network import LOOPBACK
from crossover.records.holes import HoleKind, Refusal

NAME = "crossover"
"""The user name and the domain in ZeroMQ's authentication protocol."""

WAIT_SECONDS = 60
"""The time limit for an end to connect. It passes only if strangers keep the ends of a launch apart."""


class Channel:
    """One end of a channel for small Python objects: a PAIR `socket`, which closes with its context."""

    def __init__(self, context: zmq.Context[Any], address: str = LOOPBACK):
        """Neither bound nor connected yet; `address` is that on which this end can listen."""
        self.socket: zmq.Socket[bytes] = context.socket(zmq.PAIR)
        self.socket.linger = 0
        self.address = address

    def send(self, value: Any) -> None:
        """Send one object."""
        self.socket.send_pyobj(value)

    def receive(self) -> Any:
        """Wait for one object."""
        return self.socket.recv_pyobj()


def within(context: zmq.Context[Any]) -> tuple[Channel, Channel]:
    """Both ends of a channel between two threads of this process."""
    ours, theirs = Channel(context), Channel(context)
    address = f"inproc://{id(ours)}"
    ours.socket.bind(address)
    theirs.socket.connect(address)
    return ours, theirs


class Admission:
    """Admits those that know `password` to the guarded sockets of a context, until it is closed."""

    def __init__(self, context: zmq.Context[Any]):
        # Loads asyncio, and only one end needs it.
        from zmq.auth.thread import ThreadAuthenticator

        self.password = secrets.token_hex(16)
        self._authenticator = ThreadAuthenticator(context)
        self._authenticator.start()
        self._authenticator.configure_plain(NAME, {NAME: self.password})

    def guard(self, socket: zmq.Socket[bytes]) -> None:
        """Guard a socket that is not bound yet."""
        socket.plain_server = True
        socket.zap_domain = NAME.encode()
        # Otherwise everybody would be admitted while nobody checks passwords, which is so after `close`.
        socket.setsockopt(zmq.ZAP_ENFORCE_DOMAIN, 1)

    def await_word(self, socket: zmq.Socket[bytes]) -> list[bytes]:
        """The first message of the next end on a guarded socket. Raises Refusal (DISTURBED) if none comes."""
        if not socket.poll(WAIT_SECONDS * 1000):
            raise kept_apart(f"no end connected to {socket.getsockopt_string(zmq.LAST_ENDPOINT)}")
        return socket.recv_multipart()

    def close(self) -> None:
        """Admit nobody any more; connections that are open stay open."""
        self._authenticator.stop()


def kept_apart(what: str) -> Refusal:
    """The refusal of a launch whose ends do not find each other; the next run retries such launches."""
    return Refusal(
        HoleKind.DISTURBED,
        f"{what} within {WAIT_SECONDS} s, perhaps because other processes connect there; the next run retries it",
    )


def connect(socket: zmq.Socket[bytes], endpoint: str, password: str) -> None:
    """Connect to a guarded socket, and wait until it has admitted this one; raises Refusal (DISTURBED) otherwise."""
    if endpoint.startswith("inproc:"):  # within the process, where nobody is a stranger
        socket.connect(endpoint)
        return
    socket.plain_username, socket.plain_password = NAME.encode(), password.encode()
    monitor = socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
    socket.connect(endpoint)
    if not monitor.poll(WAIT_SECONDS * 1000):
        raise kept_apart(f"not connected to {endpoint}")
    recv_monitor_message(monitor)
    socket.disable_monitor()
