"""Does an array arrive whole by every way, and is a block void if a message is lost or doubled?"""

import threading
from contextlib import contextmanager

import numpy as np
import pytest
import zmq
from launching import settings

from crossover.config import schema
from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.design.settings import TIERS
from crossover.experiments.array_transfer import ARMS, driver, ways
from crossover.measure.messages.sockets import Curve
from crossover.measure.ranks.channel import within
from crossover.planning import plan

KEYS = {"pattern": "REQ/REP", "transport": "ipc", "object": "float64 array"}
CELL = Cell(KEYS, 4000)
CEILING = Arm("C", "C", ceiling=True)
DAMAGED = "lost or damaged messages"


@contextmanager
def connected(kinds=(zmq.REQ, zmq.REP), ours=lambda socket: socket, theirs=lambda socket: socket, ceilings=()):
    """The commanding end. The other is a thread; each end has a socket, wrapped as told."""
    context = zmq.Context()
    channel, other = within(context)
    sockets = [context.socket(kind) for kind in kinds]
    for socket in sockets:
        socket.linger = 0
    sockets[1].bind("inproc://arrays")
    sockets[0].connect("inproc://arrays")
    own = settings("array_transfer", {"ceilings": list(ceilings)})
    replies = (other, {Curve.of(KEYS): theirs(sockets[1])}, own)
    end = threading.Thread(target=driver.reply, args=replies, daemon=True)
    end.start()
    yield driver.Requester(channel, {Curve.of(KEYS): ours(sockets[0])}, own)
    channel.send(None)
    end.join(30)
    assert not end.is_alive()
    context.destroy(linger=0)


class Wrapped:
    """A socket whose outgoing message number `at`, a list of frames, is replaced by the messages `change(frames)`."""

    def __init__(self, socket, change, at):
        self.socket, self.change, self.at, self.sent, self.before = socket, change, at, 0, None

    def __getattr__(self, name):
        return getattr(self.socket, name)

    def send(self, frame):
        self.send_multipart([frame])

    def send_multipart(self, frames, copy=True):
        frames = [bytes(frame) for frame in frames]
        messages = self.change(frames, self.before) if self.sent == self.at else [frames]
        for message in messages:
            self.socket.send_multipart(message)
        self.sent, self.before = self.sent + 1, frames


TRIPS = 5


def lost(frames, before):
    """The message before this, which takes its place."""
    return [before]


def doubled(frames, before):
    return [frames, frames]


# ---- ways


@pytest.mark.parametrize("arm", ARMS)
def test_type_and_shape_travel_with_the_array(arm):
    context = zmq.Context()
    one, other = context.socket(zmq.PAIR), context.socket(zmq.PAIR)
    one.bind("inproc://shapes")
    other.connect("inproc://shapes")
    way = ways.WAYS[arm]
    for sent in (np.arange(6, dtype=np.int16).reshape(2, 3), np.linspace(0, 1, 7)):
        way.sending(one)(sent)
        got = way.receiving(other)()
        assert got.shape == sent.shape and driver.equal(got, sent)
    context.destroy(linger=0)


@pytest.mark.parametrize(
    ("arm", "frames", "lent"),
    [
        ("pickle in band", 1, False),
        ("pickle out of band", 2, False),
        ("out of band no-copy", 2, True),
        ("msgpack in band", 1, False),
        ("header and buffer", 2, False),
        ("Arrow IPC", 1, False),
        ("pickle 4 in band", 1, False),
    ],
)
def test_a_way_sends_as_many_frames_and_lends_them_as_its_name_says(arm, frames, lent):
    sent = []

    class Socket:
        copy_threshold = zmq.COPY_THRESHOLD

        def send(self, frame):
            sent.append(([frame], True))

        def send_multipart(self, frames, copy):
            sent.append((frames, copy and self.copy_threshold == 0))

    ways.WAYS[arm].sending(Socket())(np.zeros(4))
    ((found, copied),) = sent
    assert len(found) == frames and copied is not lent


@pytest.mark.parametrize("other", [np.arange(4.0)[:3], np.arange(4), np.arange(4.0).reshape(2, 2), b"", None])
def test_another_type_shape_or_length_is_not_equal(other):
    assert driver.equal(np.arange(4.0), np.arange(4.0))
    assert not driver.equal(other, np.arange(4.0))


# ---- blocks


@pytest.mark.parametrize("end", ["ours", "theirs"])
@pytest.mark.parametrize("arm", ARMS)
def test_a_block_is_void_if_its_last_message_is_lost_and_the_next_is_sane(arm, end):
    with connected(**{end: lambda socket: Wrapped(socket, lost, TRIPS - 1)}) as blocks:
        block = blocks.run(CELL, Arm(arm, arm), TRIPS)
        assert (block.fault, block.values) == (DAMAGED, {})
        assert blocks.run(CELL, Arm(arm, arm), TRIPS).fault == ""


@pytest.mark.parametrize("end", ["ours", "theirs"])
@pytest.mark.parametrize("at", [0, 2, TRIPS - 1])
@pytest.mark.parametrize("arm", ["pickle in band", "header and buffer"])
def test_a_block_is_void_if_a_message_is_doubled(arm, at, end):
    # REQ and REP refuse to send twice.
    pairs = (zmq.PAIR, zmq.PAIR)
    with connected(pairs, **{end: lambda socket: Wrapped(socket, doubled, at)}) as blocks:
        block = blocks.run(CELL, Arm(arm, arm), TRIPS)
        assert (block.fault, block.values) == (DAMAGED, {})


def test_no_two_messages_of_a_launch_are_equal():
    seen = []

    def noted(frames, before):
        seen.append(b"".join(frames))
        return [frames]

    class Noting(Wrapped):
        at = property(lambda self: self.sent, lambda self, value: None)

    with connected(ours=lambda s: Noting(s, noted, 0), theirs=lambda s: Noting(s, noted, 0)) as blocks:
        for _ in range(3):
            assert blocks.run(CELL, Arm("header and buffer", "header and buffer"), TRIPS).fault == ""
    assert len(set(seen)) >= 2 * 3 * TRIPS


def test_a_ceiling_that_cannot_be_loaded_is_a_fault_with_the_reason(monkeypatch):
    monkeypatch.delenv("CROSSOVER_LIBRARIES", raising=False)
    with connected(ceilings=["C"]) as blocks:
        block = blocks.run(CELL, CEILING, 1)
        assert block.fault and block.fault != DAMAGED and block.values == {}


# ---- cells


def test_sizes_are_whole_elements_and_each_is_measured_once():
    told = {"curves": ["REQ/REP over ipc, float64 array"], "sizes_bytes": [100, 101, 8, 1, 4000]}
    assert [cell.x for cell in driver.cells(settings("array_transfer", told))] == [8, 104, 4000]


@pytest.mark.parametrize("tier", TIERS)
def test_every_tier_has_the_same_reference_and_its_transports_across_hosts(tier):
    config = schema.complete({"tier": tier})
    own = config.experiments["array_transfer"]
    assert own.reference in own.arms
    across = plan.launch(config, "array_transfer", "nodes", 1).settings
    assert across.curves == ("REQ/REP over tcp, float64 array",)
