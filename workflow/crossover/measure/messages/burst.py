"""A burst: n messages on an idle connection, timed from the first send to the last arrival.

The receiver reports that it is ready. The sender sends n messages and then, untimed, a sentinel with the burst's number
and count. The receiver receives all of them, and sends an acknowledgement on a channel that is otherwise idle: the last
message's checksum, the sentinel, and the number of messages left in the queue. A burst with a wrong acknowledgement has
no value. So no message of one burst is counted in the next.

- throughput = messages / (last receive - first send), both on `perf_counter_ns`, the one clock of a host's processes.
  Two hosts have two clocks. There the receiver reports the last message at once, and the throughput is messages /
  (arrival of this report - first send). Both are late by the latency of one message.
- send rate = messages / time of the send loop. Without a high-water mark, no send call blocks.
- overstatement = the rate between the first and the last receive, by the receiver's clock, divided by the throughput.
  pyzmq's notebook publishes that rate, which leaves out the time before the first arrival.

Multipart messages, from DEALER to ROUTER, are timed as by pyzmq's own `perf.py`: the receiver answers the last message,
and the time ends when this answer arrives.
"""

from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any, NamedTuple

from crossover.measure.messages.handover import Send, Take, checksum, sending
from crossover.measure.messages.sockets import Curve, Socket, Sockets
from crossover.measure.ranks.channel import Channel
from crossover.measure.sampling.contract import DAMAGED, Block


class Burst(NamedTuple):
    """The times of a burst, in ns of the sender's clock, and whether it arrived undamaged.

    `window_ns` is the time between the first and the last arrival, by the receiver's clock; 0 for one message.
    """

    began: int
    sent: int
    last: int
    window_ns: int
    sane: bool


class Sender:
    """The sending end. It commands each burst by (curve, arm, size of a message in bytes, number of messages)."""

    def __init__(self, channel: Channel, sockets: Sockets, placement: str):
        self.channel, self.sockets, self.placement = channel, sockets, placement
        self.number = 0

    def run(
        self, curve: Curve, arm: str, payload: bytes, counts: Sequence[int], done: Callable[[], None] = lambda: None
    ) -> Block:
        """The block of bursts of so many messages, up to the first that is damaged; calls `done` after each."""
        loop = sending(self.sockets[curve], curve, arm, payload)
        bursts: list[Burst] = []
        for count in counts:
            self.channel.send((curve, arm, len(payload), count))
            bursts.append(self._send(curve, loop, payload, count))
            done()
            if not bursts[-1].sane:
                break
        moving = sum(burst.last - burst.began for burst in bursts) / 1e9
        if not bursts[-1].sane:
            return Block(moving, fault=DAMAGED)
        sent = sum(burst.sent - burst.began for burst in bursts)
        values = {"throughput": sum(counts) / moving, "send rate": sum(counts) / sent * 1e9}
        # Between the first and the last arrival of a single message there is no time.
        if all(burst.window_ns for burst in bursts):
            values["overstatement"] = moving / sum(burst.window_ns for burst in bursts) * 1e9
        return Block(moving, values)

    def _send(self, curve: Curve, loop: Send, payload: bytes, count: int) -> Burst:
        """Send one burst, after the other end has reported that it is ready."""
        channel, socket = self.channel, self.sockets[curve]
        answered, two_clocks = curve.multipart, self.placement == "nodes"
        self.number += 1
        sentinel = b"end of burst %d, %d messages" % (self.number, count)
        channel.receive()
        began = perf_counter_ns()
        loop(count)
        sent = perf_counter_ns()
        arrived = 0
        if answered:
            socket.recv_multipart()
            arrived = perf_counter_ns()
        elif two_clocks:
            channel.receive()
            arrived = perf_counter_ns()
        socket.send(sentinel)
        first, last, *received = channel.receive()
        return Burst(began, sent, arrived or last, last - first, received == [checksum(payload), sentinel, 0])


def receive(channel: Channel, socket: Socket, loop: Take, count: int, curve: Curve, placement: str) -> None:
    """Receive a burst; does nothing else between the first message and the last."""
    answered, two_clocks = curve.multipart, placement == "nodes"
    channel.send("ready")
    got: Any = loop(1)
    first = last = perf_counter_ns()
    if count > 1:
        got = loop(count - 1)
        last = perf_counter_ns()
    if answered:
        identity, got = got
        socket.send_multipart([identity, b"DONE"])
    elif two_clocks:
        channel.send("complete")
    # The last part of each message, which may start with an identity.
    ending = socket.recv_multipart()[-1]
    channel.send((first, last, checksum(got), ending, socket.poll(0)))
