"""Is every block of every experiment between two sockets void if an end receives a damaged message?"""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
import zmq
from test_contract import settings_of

from crossover.design.arm import arms_of
from crossover.design.experiments import declared
from crossover.design.zeromq import Connected
from crossover.measure.launch import driver
from crossover.measure.messages import sockets
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import DAMAGED

CONNECTED = [name for name, each in declared().items() if issubclass(each.settings, Connected)]
UNSEEN = ("asyncio", "uvloop")
"""Arms with sockets of their own; they share their checks with the others."""


def damage(message, count):
    message[count // 2] = (message[count // 2] + 1) % 256


class Damaging(zmq.Socket):
    """A socket that receives messages whose middle byte is one too large, so that twice is no cure."""

    def recv(self, flags=0, copy=True, track=False):
        message = bytearray(super().recv(flags))
        # Before the last part there is an address or a header. A word that ends a block is compared by itself.
        if not self.rcvmore and not message.startswith(b"end of"):
            damage(message, len(message))
        return bytes(message) if copy else zmq.Frame(bytes(message))

    def recv_into(self, buffer, **options):
        count = super().recv_into(buffer, **options)
        damage(buffer, count)
        return count


@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize("name", CONNECTED)
def test_a_damaged_message_voids_the_block_of_every_arm(name, end, monkeypatch):
    receiving = {kinds[end] for kinds in sockets.KINDS.values()}
    undamaged = sockets._unbounded

    def unbounded(context, kind):
        socket = undamaged(context, kind)
        return Damaging(shadow=socket) if kind in receiving else socket

    monkeypatch.setattr(sockets, "_unbounded", unbounded)
    settings = replace(settings_of(name), ceilings=())
    peers = SimpleNamespace(placement="process")
    peers.other_end = partial(Peers.other_end, peers)
    module = driver.find(name)
    # Of each curve the longest messages, whose middle is not in a header.
    longest = {cell.protocol: cell for cell in module.cells(settings)}.values()
    unnoticed = []
    with module.drive(peers, settings) as blocks:
        for cell in longest:
            # The end that only sends receives nothing.
            expected = DAMAGED if end or cell.keys["pattern"] == "REQ/REP" else ""
            arms = [arm for arm in arms_of(settings) if cell.has(arm) and arm.runs not in UNSEEN]
            unnoticed += [(cell.protocol, arm.name) for arm in arms if blocks.run(cell, arm, 2).fault != expected]
    assert unnoticed == []
