"""Settings that the experiments on ZeroMQ's sockets share."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Self

from crossover.design.protocol import TRANSPORTS, Keys, label
from crossover.design.settings import REFERENCE, Arms, Names, OneOf, Settings, entries

HANDOVERS = ("copy", "no-copy", "default", "recv-into")
"""The ways to hand a message over, the most frequent in charts first."""

REACH = {"process": ("inproc",), "node": ("tcp", "ipc"), "nodes": ("tcp",)}
"""ZeroMQ's transports that work in each placement."""


@dataclass(frozen=True, kw_only=True)
class Connected(Settings):
    """Those of an experiment whose curves are connections, such as `PUSH/PULL over ipc, polled`."""

    curves: Names

    def connections(self, placement: str) -> dict[str, Keys]:
        """The keys of the curves that work in a placement, by name."""
        known = entries(type(self), "curves")
        return {name: known[name] for name in self.curves if known[name]["transport"] in REACH[placement]}

    @property
    def idle(self) -> bool:
        """Whether no curve works in the placement of the launch."""
        return not self.connections(self.placement)

    def within(self, placement: str) -> Self:
        """The settings for launches in this placement alone: across hosts, tcp replaces ipc, and inproc is left out."""
        own = super().within(placement)
        if placement != "nodes":
            return own
        known = entries(type(self), "curves")
        over_tcp = {
            name: label({**known[name], "transport": "tcp"}) if known[name]["transport"] == "ipc" else name
            for name in self.curves
        }
        return replace(own, curves=tuple(replace(own, curves=tuple(over_tcp.values())).connections(placement)))


@dataclass(frozen=True, kw_only=True)
class Handed(Connected):
    """Those of an experiment whose arms are ways to hand a message over."""

    arms: Annotated[
        Arms,
        OneOf(HANDOVERS),
        "How a message is handed over. `copy` copies it into the library. `no-copy` lends the library the sender's "
        "buffer. `default` does so from pyzmq's own threshold up, and is measured around it. `recv-into` copies, "
        "and receives into a buffer that is reused.",
    ]
    reference: Annotated[str, OneOf(of="arms"), REFERENCE] = "copy"


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
