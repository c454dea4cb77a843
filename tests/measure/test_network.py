"""Is the interface that connects hosts the one that is meant, is a wrong one refused in words that help, and are
reserved ports kept for those who are told their numbers?
"""

import socket
from contextlib import nullcontext
from types import SimpleNamespace

import psutil
import pytest

from crossover.measure.ranks import network
from crossover.measure.ranks.network import LOOPBACK, Reach, Reserved
from crossover.records.holes import HoleKind, Refusal


def pretend(monkeypatch, interfaces, own_name="", default_route="", down=()):
    """Give this host these IPv4 addresses, by interface, and these hints at the right one."""
    listed = {
        name: [SimpleNamespace(family=socket.AF_INET, address=ip) for ip in ips] for name, ips in interfaces.items()
    }
    states = {name: SimpleNamespace(isup=name not in down) for name in interfaces}
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: listed)
    monkeypatch.setattr(psutil, "net_if_stats", lambda: states)
    monkeypatch.setattr(network, "_of_own_name", lambda: own_name)
    monkeypatch.setattr(network, "_of_default_route", lambda: default_route)


HOST = {"lo": ["127.0.0.1"], "eth0": ["192.168.1.5"], "ib0": ["10.1.0.5", "10.2.0.5"]}


@pytest.mark.parametrize("placement", ["node", "process"])
def test_within_a_host_it_is_always_the_loopback(placement):
    assert network.reach(placement, "no such interface") == Reach("lo", "127.0.0.1")
    assert Reach().for_mpi() == {"UCX_NET_DEVICES": "lo", "FI_TCP_IFACE": "lo"}


@pytest.mark.parametrize(
    ("interfaces", "own_name", "default_route", "asked", "found"),
    [
        (HOST, "10.2.0.5", "192.168.1.5", "auto", Reach("ib0", "10.2.0.5")),
        (HOST, "127.0.1.1", "192.168.1.5", "auto", Reach("eth0", "192.168.1.5")),
        (HOST, "", "10.1.0.5", "auto", Reach("ib0", "10.1.0.5")),
        # A named one has its first address, and a single one needs no name.
        (HOST, "192.168.1.5", "", "ib0", Reach("ib0", "10.1.0.5")),
        ({"lo": ["127.0.0.1"], "eth7": ["10.0.0.1"]}, "", "", "auto", Reach("eth7", "10.0.0.1")),
        (HOST, "", "", "auto", None),
    ],
)
def test_the_default_is_the_interface_of_the_hosts_name_or_of_the_default_route_and_no_guess(
    monkeypatch, interfaces, own_name, default_route, asked, found
):
    pretend(monkeypatch, interfaces, own_name, default_route)
    with nullcontext() if found else pytest.raises(Refusal, match="does not show which interface"):
        assert network.reach("nodes", asked) == found


@pytest.mark.parametrize("asked", ["eth9", "lo", "ib0"])
def test_an_interface_without_an_address_is_refused_with_the_key_and_the_others(monkeypatch, asked):
    pretend(monkeypatch, HOST, down=["ib0"])
    with pytest.raises(Refusal) as refused:
        network.reach("nodes", asked)
    for said in (f"no interface {asked}", "`interface:` in profiles/slurm/site.yaml", "eth0 (192.168.1.5)"):
        assert said in str(refused.value)
    assert "ib0 (" not in str(refused.value)
    assert refused.value.kind == HoleKind.WRONG_SETUP


def test_mpi_uses_the_device_and_port_of_an_infiniband_interface(monkeypatch, tmp_path):
    (tmp_path / "ib1" / "device" / "infiniband" / "mlx5_0").mkdir(parents=True)
    (tmp_path / "ib1" / "dev_port").write_text("1\n")
    monkeypatch.setattr(network, "DEVICES", tmp_path)
    assert Reach("ib1", "10.1.0.5").for_mpi() == {"UCX_NET_DEVICES": "mlx5_0:2", "FI_TCP_IFACE": "ib1"}
    assert Reach("eth0", "10.1.0.6").for_mpi() == {"UCX_NET_DEVICES": "eth0", "FI_TCP_IFACE": "eth0"}


def test_this_hosts_addresses_can_be_listened_on():
    for one in network.interfaces():
        with socket.create_server((one.address, 0)):
            pass


# ---- reserved ports


def test_whoever_asks_for_any_free_port_is_given_another():
    reserved = Reserved(200, LOOPBACK)
    others = [socket.create_server((LOOPBACK, 0)) for _ in range(500)]
    taken = {other.getsockname()[1] for other in others}
    for other in others:
        other.close()
    assert len(set(reserved.numbers)) == 200
    assert not taken & set(reserved.numbers)
