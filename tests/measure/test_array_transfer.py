"""Does an object arrive whole by every way, and is a block void if a message is lost or doubled?"""

import threading
from contextlib import contextmanager

import numpy as np
import pytest
import zmq
from hypothesis import given
from hypothesis import strategies as st
from launching import settings

from crossover.config import schema
from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.array_transfer import ARMS, OBJECTS, driver, ways
from crossover.experiments.array_transfer.payload import equal, payload, sizes
from crossover.measure.messages.sockets import Curve
from crossover.measure.ranks.channel import within

KEYS = {"pattern": "REQ/REP", "transport": "ipc", "object": "float64 array"}
CELL = Cell(KEYS, 4000)
CEILING = Arm("C", "C", ceiling=True)
DAMAGED = "lost or damaged messages"
PICKLED = ["pickle in band", "pickle out of band", "out of band no-copy", "pickle 4 in band"]
FITTING = {
    "float64 array": {*ARMS, "C"},
    "uint8 frame": {*ARMS, "C"},
    "DataFrame": {*PICKLED, "Arrow IPC"},
    "dict of arrays": {*PICKLED},
}
"""The arms that make sense for each object."""
WAYS = [(kind, arm) for kind in OBJECTS for arm in ARMS if arm in FITTING[kind]]


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


TRIPS = 5


class Wrapped:
    """A socket whose outgoing message number `at`, a list of frames, is replaced by the one before, or doubled."""

    def __init__(self, socket, replaced, at=TRIPS - 1):
        self.socket, self.replaced, self.at, self.sent = socket, replaced, at, []

    def __getattr__(self, name):
        return getattr(self.socket, name)

    def send(self, frame):
        self.send_multipart([frame])

    def send_multipart(self, frames, copy=True):
        frames = [bytes(frame) for frame in frames]
        assert frames not in self.sent, "no two messages of a launch are equal"
        messages = self.sent[-1:] if self.replaced else [frames, frames]
        for message in messages if len(self.sent) == self.at else [frames]:
            self.socket.send_multipart(message)
        self.sent.append(frames)


# ---- ways


@pytest.mark.parametrize(("kind", "arm"), WAYS)
def test_an_object_comes_back_equal_and_without_its_last_number_it_does_not(kind, arm):
    context = zmq.Context()
    one, other = context.socket(zmq.PAIR), context.socket(zmq.PAIR)
    one.bind("inproc://objects")
    other.connect("inproc://objects")
    sent, like, way = payload(0, kind, 8000), payload(0, kind, 8000), ways.way(arm, kind)
    # Type and shape travel with an array.
    for array in (np.arange(6, dtype=np.int16).reshape(2, 3), np.linspace(0, 1, 7)) if kind == OBJECTS[0] else ():
        way.sending(one)(array)
        got = way.receiving(other)()
        assert got.shape == array.shape and equal(got, array)
    sent.numbers[-1] = 5
    way.sending(one)(sent.object)
    got = way.receiving(other)()
    assert not equal(got, like.object)
    like.numbers[-1] = 5
    assert equal(got, like.object) and equal(sent.object, like.object)
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


def test_another_length_type_or_shape_and_other_columns_or_names_are_not_equal():
    array = np.arange(4.0)
    others = (array[:3], np.arange(4), array.reshape(2, 2), b"", None)
    assert equal(array.copy(), array) and not any(equal(other, array) for other in others)
    table, arrays = payload(0, "DataFrame", 800).object, payload(0, "dict of arrays", 800).object
    others = [
        *(table.rename(columns={"name": "word"}), table[table.columns[::-1]], table.astype({"float 1": "float32"})),
        *(table.astype({"name": object}), table.astype({"whole 0": "float64"}), table[:-1], table.set_index("name")),
        table.assign(name=table["name"].str.upper()),
    ]
    assert equal(table.copy(), table) and not any(equal(other, table) for other in others)
    less = dict(list(arrays.items())[:-1])
    others = [less, {**arrays, "array 3": arrays["array 4"]}, dict(reversed(arrays.items())), list(arrays.values())]
    assert equal({**arrays}, arrays) and not any(equal(other, arrays) for other in others)


# ---- blocks


@pytest.mark.parametrize("end", ["ours", "theirs"])
@pytest.mark.parametrize(("kind", "arm"), WAYS)
def test_a_block_is_void_if_its_last_message_is_lost_and_the_next_is_sane(kind, arm, end):
    cell = Cell({**KEYS, "object": kind}, 8000)
    with connected(**{end: lambda socket: Wrapped(socket, True)}) as blocks:
        block = blocks.run(cell, Arm(arm, arm), TRIPS)
        assert (block.fault, block.values) == (DAMAGED, {})
        assert blocks.run(cell, Arm(arm, arm), TRIPS).fault == ""


@pytest.mark.parametrize("end", ["ours", "theirs"])
@pytest.mark.parametrize("at", [0, TRIPS - 1])
@pytest.mark.parametrize("arm", ["pickle in band", "header and buffer"])
def test_a_block_is_void_if_a_message_is_doubled(arm, at, end):
    # REQ and REP refuse to send twice.
    with connected((zmq.PAIR, zmq.PAIR), **{end: lambda socket: Wrapped(socket, False, at)}) as blocks:
        assert blocks.run(CELL, Arm(arm, arm), TRIPS).fault == DAMAGED


def test_a_ceiling_that_cannot_be_loaded_is_a_fault_with_the_reason(monkeypatch):
    monkeypatch.delenv("CROSSOVER_LIBRARIES", raising=False)
    with connected(ceilings=["C"]) as blocks:
        block = blocks.run(CELL, CEILING, 1)
        assert block.fault and block.fault != DAMAGED and block.values == {}


# ---- cells


def test_sizes_are_whole_elements_and_each_is_measured_once():
    told = {"curves": ["REQ/REP over ipc, float64 array"], "sizes_bytes": [100, 101, 8, 1, 4000]}
    assert [cell.x for cell in driver.cells(settings("array_transfer", told))] == [8, 104, 4000]
    at = schema.complete({"at": "5MB"}).experiments["array_transfer"]
    assert at.sizes_bytes == at.container_sizes_bytes == (5_000_000,)
    picture = payload(0, "uint8 frame", 1).object.nbytes
    assert sizes("uint8 frame", (100, 1000), (100,)) == [1080 * 1920 * 3] == [picture]


@given(st.integers(1, 10**6), st.sampled_from(["DataFrame", "dict of arrays"]))
def test_the_values_of_a_container_have_the_bytes_of_its_point_and_of_a_refined_one_nearly(wanted, kind):
    (point,) = sizes(kind, (), (wanted,))
    assert wanted <= point < wanted + 80 and _bytes(payload(0, kind, point).object) == point
    assert abs(_bytes(payload(0, kind, wanted).object) - wanted) <= max(40, 80 - wanted)


def _bytes(made):
    if isinstance(made, dict):
        return sum(array.nbytes for array in made.values())
    return made.memory_usage(index=False, deep=True).sum()


def test_arms_take_part_where_an_object_fits_and_a_curve_without_one_is_left_out():
    every = [f"REQ/REP over ipc, {kind}" for kind in OBJECTS]
    full = settings("array_transfer", {"curves": every, "arms": [*ARMS], "ceilings": ["C"]})
    assert {cell.keys["object"]: {*cell.arms} for cell in driver.cells(full)} == FITTING
    few = {"arms": ["msgpack in band", "header and buffer"], "reference": "msgpack in band"}
    reduced = settings("array_transfer", {"curves": every, **few})
    assert {cell.keys["object"] for cell in driver.cells(reduced)} == {"float64 array", "uint8 frame"}
