"""Do the ceilings move every byte in both directions, and time nothing else?"""

import select
import socket
import threading
import time
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
import zmq

from crossover.measure.messages.mpi_objects import MARK
from crossover.measure.native import ceiling_raw, ceiling_zeromq, loader

SIZES_BYTES = [1, 100, 3_000_000]


@pytest.fixture(autouse=True)
def built(libraries, monkeypatch):
    for variable, value in loader.variables(list(libraries.iterdir())).items():
        monkeypatch.setenv(variable, value)


def payload(size, seed=1):
    return np.random.default_rng(seed).integers(0, 256, size, np.uint8)


def play(first, second, size, n, re_sent=False):
    """`n` round trips between two exchanges in two threads; returns the seconds and the received bytes of both.

    If `re_sent`, each sends from the buffer into which it receives.
    """
    ping, pong = payload(size, 1), payload(size, 2)
    boxes = [ping, pong] if re_sent else [np.zeros(size, np.uint8), np.zeros(size, np.uint8)]
    told = {}

    def answer():
        try:
            told["second"] = second(pong, boxes[1], n)
        except OSError as error:
            told["error"] = error

    thread = threading.Thread(target=answer)
    thread.start()
    began = time.perf_counter()
    told["first"] = first(ping, boxes[0], n)
    told["around"] = time.perf_counter() - began
    thread.join()
    return told, boxes


@contextmanager
def raw_sockets(kind):
    """Both ends of a connection."""
    with (
        ceiling_raw.listen(kind, "127.0.0.1") as listening,
        ceiling_raw.connect(listening.getsockname(), b"") as one,
        listening.accept()[0] as other,
    ):
        # Loopback alone, and no file.
        name = listening.getsockname()
        assert name[0] == "127.0.0.1" if kind == "TCP" else name.startswith(b"\0crossover-")
        yield one, other


@pytest.mark.parametrize("size", SIZES_BYTES)
@pytest.mark.parametrize("kind", ["TCP", "Unix", (zmq.REP, zmq.REQ), (zmq.PAIR, zmq.PAIR)], ids=str)
def test_every_byte_goes_both_ways_and_none_is_left(kind, size, sockets):
    with raw_sockets(kind) if isinstance(kind, str) else nullcontext(sockets(*kind)) as (other, one):
        pingpong = (ceiling_raw if isinstance(kind, str) else ceiling_zeromq).pingpong
        told, boxes = play(pingpong(one, True), pingpong(other, False), size, 20)
        assert np.array_equal(boxes[0], payload(size, 2)) and np.array_equal(boxes[1], payload(size, 1))
        assert 0 < told["first"] <= told["around"]
        assert not any(select.select([one, other], [], [], 0) if isinstance(kind, str) else [one.poll(0)])


@pytest.mark.parametrize("size", SIZES_BYTES)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_with_one_buffer_both_ends_of_a_raw_socket_have_the_firsts_bytes_marked_once(size, n):
    with raw_sockets("Unix") as (one, other):
        _, boxes = play(ceiling_raw.pingpong(one, True), ceiling_raw.pingpong(other, False), size, n, re_sent=True)
    expected = payload(size, 1)
    expected[-1] ^= MARK
    assert np.array_equal(boxes[0], expected) and np.array_equal(boxes[1], expected)


@pytest.mark.parametrize("kind", ["TCP", "Unix"])
def test_a_round_trip_lasts_until_the_answer_arrives(kind):
    with raw_sockets(kind) as (one, other):

        def slow(outbox, inbox, n):
            for _ in range(n):
                other.recv_into(inbox, flags=socket.MSG_WAITALL)
                time.sleep(0.02)
                other.sendall(outbox)

        told, _ = play(ceiling_raw.pingpong(one, True), slow, 100, 5)
        assert told["around"] >= told["first"] >= 0.1


def test_a_raw_socket_whose_other_end_is_gone_is_an_error_and_no_signal():
    with ceiling_raw.listen("TCP", "127.0.0.1") as listening, ceiling_raw.connect(listening.getsockname(), b"") as one:
        listening.accept()[0].close()
        with pytest.raises(OSError, match="raw socket failed"):
            ceiling_raw.pingpong(one, True)(payload(100), np.zeros(100, np.uint8), 1000)


def test_memcpy_copies_every_byte_as_often_as_it_is_told():
    exchange = ceiling_raw.memcpy()
    for size in SIZES_BYTES:
        inbox, began = np.zeros(size, np.uint8), time.perf_counter()
        assert 0 < exchange(payload(size), inbox, 20) <= time.perf_counter() - began
        assert np.array_equal(inbox, payload(size))
    few, many = (min(exchange(payload(size), inbox, n) for _ in range(7)) for n in (5, 50))
    assert many > 4 * few


@pytest.fixture
def sockets():
    """Returns a connected pair of sockets of two kinds."""
    with zmq.Context() as context:

        def pair(bound, connected):
            ends = [context.socket(kind) for kind in (bound, connected)]
            for end in ends:
                end.set_hwm(0)
                end.linger = 0
                end.rcvtimeo = end.sndtimeo = 10_000
            ends[0].bind(f"ipc://@crossover-test-{time.monotonic_ns()}")
            ends[1].connect(ends[0].getsockopt_string(zmq.LAST_ENDPOINT))
            return ends

        yield pair
        context.destroy(linger=0)


@pytest.mark.parametrize("size", SIZES_BYTES)
@pytest.mark.parametrize("copy", [True, False], ids=["copy", "no copy"])
def test_a_flood_arrives_whole_and_uses_pythons_clock(sockets, copy, size):
    puller, pusher = sockets(zmq.PULL, zmq.PUSH)
    sent, inbox, n = payload(size), np.zeros(size, np.uint8), 20
    before = time.perf_counter_ns()
    began, ended = ceiling_zeromq.push(pusher)(sent, n, copy)
    received_at = ceiling_zeromq.pull(puller)(inbox, n, copy)
    assert before <= began < ended <= time.perf_counter_ns()
    assert began < received_at <= time.perf_counter_ns()
    assert np.array_equal(inbox, sent)
    assert puller.poll(50) == 0


@pytest.mark.parametrize("copy", [True, False], ids=["copy", "no copy"])
@pytest.mark.parametrize("size", [99, 101])
def test_a_message_of_another_length_is_an_error(sockets, copy, size):
    puller, pusher = sockets(zmq.PULL, zmq.PUSH)
    pusher.send(bytes(size))
    with pytest.raises(OSError, match="too long"):
        ceiling_zeromq.pull(puller)(np.zeros(100, np.uint8), 1, copy)


def test_a_refusal_by_libzmq_is_an_error_with_its_message(sockets):
    asked, asking = sockets(zmq.REP, zmq.REQ)
    with pytest.raises(OSError, match="current state"):
        ceiling_zeromq.pingpong(asked, True)(payload(10), np.zeros(10, np.uint8), 1)
    assert not asking.closed


@pytest.mark.parametrize("kind", ["TCP", "Unix"])
def test_only_the_end_with_the_secret_is_accepted(kind, monkeypatch):
    monkeypatch.setattr(ceiling_raw, "WORD_SECONDS", 0.1)
    with ceiling_raw.listen(kind, "127.0.0.1") as listening:
        name = listening.getsockname()
        words = [b"", b"short", b"another secret!!", b"GET / HTTP/1.1\r\n\r\n" * 10]
        strangers = [ceiling_raw.connect(name, word) for word in words]
        with (
            ceiling_raw.connect(name, b"sixteen bytes ok") as ours,
            ceiling_raw.accept(listening, b"sixteen bytes ok", 30) as found,
        ):
            ours.sendall(b"right end")
            assert found.recv(9, socket.MSG_WAITALL) == b"right end"
        for each in strangers:
            each.close()


def test_nobody_is_waited_for_without_end(monkeypatch):
    monkeypatch.setattr(ceiling_raw, "WORD_SECONDS", 0.1)
    with ceiling_raw.listen("TCP", "127.0.0.1") as listening, ceiling_raw.connect(listening.getsockname(), b""):
        assert ceiling_raw.accept(listening, b"sixteen bytes ok", 0.3) is None
