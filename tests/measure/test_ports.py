"""Are reserved ports kept for the servers that get their numbers?"""

import socket

import zmq

from crossover.measure.ranks.network import LOOPBACK
from crossover.measure.ranks.ports import Reserved


def test_a_server_with_the_number_can_listen_on_a_reserved_port():
    reserved = Reserved(2, LOOPBACK)
    first, second = reserved.numbers
    with zmq.Context() as context, context.socket(zmq.PULL) as puller, context.socket(zmq.PUSH) as pusher:
        puller.bind(f"tcp://{LOOPBACK}:{first}")
        pusher.connect(f"tcp://{LOOPBACK}:{first}")
        pusher.send(b"here")
        assert puller.recv() == b"here"
    with socket.create_server((LOOPBACK, second)), socket.create_connection((LOOPBACK, second)):
        pass


def test_requests_for_any_free_port_get_another():
    reserved = Reserved(200, LOOPBACK)
    others = [socket.create_server((LOOPBACK, 0)) for _ in range(500)]
    taken = {other.getsockname()[1] for other in others}
    for other in others:
        other.close()
    assert len(set(reserved.numbers)) == 200
    assert not taken & set(reserved.numbers)
