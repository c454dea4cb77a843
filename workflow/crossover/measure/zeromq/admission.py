"""Admission to an experiment's sockets: only for ends that know a password, and only until all have connected.

ZeroMQ's own PLAIN mechanism checks the password when a connection opens. Afterwards, messages are sent exactly as
without it, so the measurement is the same. docs/decisions/admission.md has the evidence.
"""

import secrets
from typing import Any

import zmq
from zmq.auth.thread import ThreadAuthenticator
from zmq.utils.monitor import recv_monitor_message

NAME = "crossover"
"""The user name and the domain in ZeroMQ's authentication protocol."""

WAIT_SECONDS = 60


class Admission:
    """Admits those that know `password` to the guarded sockets of a context, until it is closed."""

    def __init__(self, context: zmq.Context[Any]):
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

    def close(self) -> None:
        """Admit nobody any more; connections that are open stay open."""
        self._authenticator.stop()


def connect(socket: zmq.Socket[bytes], endpoint: str, password: str) -> None:
    """Connect to a guarded socket, and wait until it has admitted this one. Raises TimeoutError if it does not."""
    if endpoint.startswith("inproc:"):  # within the process, where nobody is a stranger
        socket.connect(endpoint)
        return
    socket.plain_username, socket.plain_password = NAME.encode(), password.encode()
    monitor = socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
    socket.connect(endpoint)
    if not monitor.poll(WAIT_SECONDS * 1000):
        raise TimeoutError(f"not connected to {endpoint} after {WAIT_SECONDS} s")
    recv_monitor_message(monitor)
    socket.disable_monitor()
