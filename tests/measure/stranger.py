"""Another user of the host, who tries to get into the farms of a launch: `python stranger.py PORTS DASK_PORTS`.

PORTS are those on which the launch listens. Prints a JSON list of what he got: messages, pages, or the result of a
function.
"""

import json
import os
import socket
import sys
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from threading import Thread

import zmq
from distributed import Client, Security

NOBODY = 65534
PAGES = ("/", "/health", "/metrics", "/json/identity.json", "/info/main/workers.html", "/sitemap.json")
SECONDS = 2


def noise(ports: list[int]) -> None:
    """Send random bytes to every port; keep a silent connection to each as well."""
    for port in ports:
        with suppress(OSError):
            silent.append(socket.create_connection(("127.0.0.1", port), 1))
            with socket.create_connection(("127.0.0.1", port), 1) as sending:
                sending.sendall(os.urandom(4096))


silent: list[socket.socket] = []


def messages(ports: list[int]) -> list[str]:
    """The messages that sockets of every kind get from these ports, with and without keys of their own."""
    context, poller = zmq.Context(), zmq.Poller()
    for port in ports:
        for kind in (zmq.DEALER, zmq.PULL, zmq.SUB, zmq.PAIR):
            for has_keys in (False, True):
                stranger = context.socket(kind)
                stranger.linger = 0
                if has_keys:
                    stranger.curve_publickey, stranger.curve_secretkey = zmq.curve_keypair()
                    stranger.curve_serverkey, _ = zmq.curve_keypair()
                if kind == zmq.SUB:
                    stranger.subscribe(b"")
                stranger.connect(f"tcp://127.0.0.1:{port}")
                if kind in (zmq.DEALER, zmq.PAIR):
                    with suppress(zmq.Again):
                        stranger.send(b"let me in", zmq.NOBLOCK)
                poller.register(stranger, zmq.POLLIN)
    found, deadline = [], time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        for ready, _ in poller.poll(100):
            found.append(f"{len(b''.join(ready.recv_multipart()))} bytes")
    context.destroy(linger=0)
    return found


def fetch(port: int, found: list[str]) -> None:
    """Add the web pages that he gets from this port."""
    for page in PAGES:
        with suppress(OSError, HTTPException):
            connection = HTTPConnection("127.0.0.1", port, timeout=0.3)
            connection.request("GET", page)
            if (answer := connection.getresponse()).status == 200:
                found.append(f"{page} of {len(answer.read())} bytes")


def run_as_victim(port: int, found: list[str]) -> None:
    """Add what a function returns that Dask's scheduler, if it is at this port, ran for a stranger, by TCP and TLS."""
    for protocol, security in (("tcp", None), ("tls", Security.temporary())):
        with suppress(Exception):
            client = Client(f"{protocol}://127.0.0.1:{port}", timeout=4 * SECONDS, security=security)
            found.append(f"ran as {client.submit(os.getuid).result(timeout=4 * SECONDS)}")


if __name__ == "__main__":
    os.chdir("/")
    if os.getuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    ports = json.loads(sys.argv[1])
    got: list[str] = []
    # Clients that are kept out go on trying, so nobody waits for the end of an attack.
    attacks = [Thread(target=lambda: got.extend(messages(ports)), daemon=True)]
    attacks += [Thread(target=fetch, args=(port, got), daemon=True) for port in ports]
    attacks += [Thread(target=run_as_victim, args=(port, got), daemon=True) for port in json.loads(sys.argv[2])]
    for attack in attacks:
        attack.start()
    for attack in attacks:
        attack.join(8 * SECONDS)
    noise(ports)
    print(json.dumps(got), flush=True)
    os._exit(0)
