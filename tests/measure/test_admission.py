"""Are strangers kept out of an experiment's sockets, before and after its ends have connected?"""

import threading
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import pytest
import zmq
from launching import settings

from crossover.design.arm import Arm
from crossover.experiments.zmq_throughput import driver as zmq_throughput
from crossover.measure.messages.sockets import Curve
from crossover.measure.ranks.channel import NAME, Admission, connect, within

GREETING = b"from the right end"


def socket_of(context, kind):
    socket = context.socket(kind)
    socket.linger = 0
    socket.rcvtimeo = 2000
    return socket


@contextmanager
def guarded(kind, address):
    """An admission, a bound socket that it guards, and the endpoint."""
    context = zmq.Context()
    admission = Admission(context)
    try:
        socket = socket_of(context, kind)
        admission.guard(socket)
        socket.bind(address)
        yield admission, socket, socket.getsockopt_string(zmq.LAST_ENDPOINT)
    finally:
        admission.close()
        context.destroy(linger=0)


def stranger(context, endpoint, kind, password):
    """Another program's socket, which has sent something."""
    socket = socket_of(context, kind)
    if password is not None:
        socket.plain_username, socket.plain_password = NAME.encode(), password.encode()
    socket.connect(endpoint)
    for _ in range(100):
        with suppress(zmq.Again):  # while nobody has admitted it
            socket.send(b"from a stranger", zmq.NOBLOCK)
    return socket


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:*", "ipc://@crossover-test-admission"])
@pytest.mark.parametrize(("ours", "theirs"), [(zmq.PUSH, zmq.PULL), (zmq.DEALER, zmq.ROUTER)])
def test_only_the_end_with_the_password_gets_in(ours, theirs, address, closed):
    with guarded(theirs, address) as (admission, socket, endpoint), zmq.Context() as elsewhere:
        other = Admission(elsewhere)
        other.close()
        assert len(admission.password) == 32 and admission.password != other.password
        own = socket_of(elsewhere, ours)
        if closed:
            connect(own, endpoint, admission.password)
            admission.close()
        # Even somebody who knows the password comes too late when all have connected.
        words = [None, "guessed", *([admission.password] if closed else [])]
        strangers = [stranger(elsewhere, endpoint, ours, word) for word in words]
        assert not socket.poll(300)
        if not closed:
            connect(own, endpoint, admission.password)
        own.send(GREETING)
        assert socket.recv_multipart()[-1] == GREETING
        assert not socket.poll(300)
        for each in [own, *strangers]:
            each.close()


@pytest.mark.parametrize("pattern", ["PUSH/PULL", "DEALER/ROUTER"])
def test_a_flood_from_a_stranger_voids_no_block(pattern):
    name = f"{pattern} over tcp"
    told = {
        "curves": [name], "sizes_bytes": [1000], "arms": ["copy"], "ceilings": [], "burst_seconds": 0.05,
        "burst_bytes": 10**6, "in_flight_messages": 1000, "in_flight_bytes": 10**6, "lead_in_seconds": 0.01,
    }  # fmt: skip
    own = settings("zmq_throughput", told)
    found = []

    def other_end(context, serve):
        ours, theirs = within(context)
        said = theirs.send

        def send(value):
            if isinstance(value, tuple) and str(value[0]).startswith("tcp:"):
                found.append(value[0])
            said(value)

        theirs.send = send
        threading.Thread(target=serve, args=(context, theirs), daemon=True).start()
        return ours

    peers = SimpleNamespace(placement="node", other_end=other_end)
    with zmq_throughput.drive(peers, own) as blocks, zmq.Context() as elsewhere:
        kinds = {"PUSH/PULL": zmq.PUSH, "DEALER/ROUTER": zmq.DEALER}
        (endpoint,) = found
        intruder = stranger(elsewhere, endpoint, kinds[pattern], None)
        (cell,) = zmq_throughput.cells(own)
        every = [blocks.run(cell, Arm("copy", "copy"), 200) for _ in range(5)]
        intruder.close()
    assert [block.fault for block in every] == [""] * 5
    assert Curve.of(cell.keys).transport == "tcp"
