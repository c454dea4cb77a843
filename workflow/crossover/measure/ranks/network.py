"""The network between a launch's ranks: its interface, the address on this host, and reserved ports."""

import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from crossover.paths import SITE
from crossover.records.holes import HoleKind, Refusal

LOOPBACK = "127.0.0.1"
AUTO = "auto"
ANYWHERE = "192.0.2.1"
"""An address reserved for documentation (RFC 5737). Nothing is sent to it; the kernel only reports the route."""
DEVICES = Path("/sys/class/net")


def launcher(example: str = "") -> str:
    """The remedy for ranks in a wrong place: how to name their launcher; the `example` is one for Slurm."""
    if "SLURM_JOB_ID" in os.environ:
        return f"set `mpi:` in {SITE}{example}"
    return (
        f"add --set-resources launch:mpi=LAUNCHER{example}; it must belong to the MPI library that the ranks load, "
        "which LD_LIBRARY_PATH or a module can change"
    )


@dataclass(frozen=True)
class Reach:
    """The interface on which this host's ranks and MPI communicate: its name and IPv4 address."""

    interface: str = "lo"
    address: str = LOOPBACK

    def for_mpi(self) -> dict[str, str]:
        """The environment that restricts MPI to this interface, or to the InfiniBand device behind it."""
        return {"UCX_NET_DEVICES": _rdma_device(self.interface) or self.interface, "FI_TCP_IFACE": self.interface}


def reach(placement: str, interface: str) -> Reach:
    """This host's end of the network: the loopback, or in placement `nodes` the interface of that name.

    `auto` chooses the interface to whose address this host's name resolves, which batch systems use; otherwise that of
    the default route; otherwise the only one. Raises Refusal (WRONG_SETUP), also if there is no loopback.
    """
    if placement != "nodes":
        _require_loopback()
        return Reach()
    present = interfaces()
    if interface != AUTO:
        chosen = [one for one in present if one.interface == interface]
        trouble = f"has no interface {interface} with an IPv4 address"
    else:
        chosen = [one for wanted in (_of_own_name(), _of_default_route()) for one in present if one.address == wanted]
        chosen = chosen or (present if len(present) == 1 else [])
        trouble = "does not show which interface connects it to other hosts"
    if chosen:
        return chosen[0]
    listed = ", ".join(f"{one.interface} ({one.address})" for one in present) or "none"
    raise Refusal(
        HoleKind.WRONG_SETUP,
        f"host {socket.gethostname()} {trouble}; set `interface:` in {SITE}; available: {listed}",
    )


def _require_loopback() -> None:
    try:
        with socket.create_server((LOOPBACK, 0)) as server, socket.create_connection(server.getsockname(), 10):
            pass
    except OSError as error:
        raise Refusal(
            HoleKind.WRONG_SETUP,
            f"host {socket.gethostname()} cannot connect to itself by {LOOPBACK} ({error.strerror or error}); IPv6 "
            f"alone does not do: ip link set lo up; ip address add {LOOPBACK}/8 dev lo",
        ) from None


def interfaces() -> list[Reach]:
    """Every IPv4 address of this host that others may reach, with its interface; only interfaces that are up."""
    states = psutil.net_if_stats()
    return [
        Reach(name, address.address)
        for name, addresses in sorted(psutil.net_if_addrs().items())
        for address in addresses
        if address.family == socket.AF_INET and not address.address.startswith("127.") and states[name].isup
    ]


def _of_own_name() -> str:
    with suppress(OSError):
        return socket.gethostbyname(socket.gethostname())
    return ""


def _of_default_route() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect((ANYWHERE, 9))
        return str(probe.getsockname()[0])
    return ""


def _rdma_device(interface: str) -> str:
    """UCX's name, with port, of the remote-memory-access device behind an interface; empty if there is none."""
    device = DEVICES / interface
    names = sorted(path.name for path in device.glob("device/infiniband/*"))
    port = 1
    with suppress(OSError, ValueError):
        port += int((device / "dev_port").read_text(encoding="utf-8"))
    return f"{names[0]}:{port}" if names else ""


class Reserved:
    """`count` free ports of an address, reserved while this object lives: the kernel gives them to no process that
    wants any free port.

    A server can still bind such a port by its number if it sets SO_REUSEADDR, as nearly all servers do. Linux lets it
    share the port with a socket that sets SO_REUSEADDR too and does not listen.
    """

    def __init__(self, count: int, address: str):
        self._sockets = [socket.socket() for _ in range(count)]
        for each in self._sockets:
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            each.bind((address, 0))
        self.numbers: list[int] = [each.getsockname()[1] for each in self._sockets]
