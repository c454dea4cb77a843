"""Settings that the experiments on ZeroMQ's sockets share."""

from collections.abc import Iterable, Mapping

from crossover.design import kinds
from crossover.design.kinds import Default, Settings
from crossover.design.protocol import TRANSPORTS, Keys

HANDOVERS = ("copy", "no-copy", "default", "recv-into")
"""The ways to hand a message over, the most frequent in charts first."""


def handovers(default: Default) -> Settings:
    """The arms: how a message is handed over."""
    return {
        "arms": kinds.arms(
            "How a message is handed over. `copy` copies it into the library. `no-copy` lends the library the sender's "
            "buffer. `default` does so from pyzmq's own threshold up, and is measured around it. `recv-into` copies, "
            "and receives into a buffer that is reused.",
            HANDOVERS,
            default,
        ),
        "reference": kinds.reference(HANDOVERS, "copy"),
    }


def connections(patterns: Iterable[str], option: str = "") -> list[Keys]:
    """The keys of every connection: a pattern of sockets over a transport, without and with this option."""
    plain: Mapping[str, bool] = {}
    options = [{option: False}, {option: True}] if option else [plain]
    return [
        {"pattern": pattern, "transport": transport, **chosen}
        for pattern in patterns
        for chosen in options
        for transport in TRANSPORTS
    ]
