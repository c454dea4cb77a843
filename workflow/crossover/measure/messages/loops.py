"""The loops of a way to send: `ping` and `pong` are the two ends of round trips, `pour` and `drain` of a stream."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

WORD = b"taken"
"""What the other end says when it has taken the last message of a stream."""


@dataclass(frozen=True)
class Way:
    """A way with a call that sends a message, one that waits for a message, and one that tells of a message left."""

    send: Callable[[Any], Any]
    receive: Callable[[], Any]
    is_readable: Callable[[], bool]
    word: "Way | None" = None
    """What carries the word that ends a stream, where this way cannot."""

    def ping(self, payload: Any, n: int) -> Any:
        """Make `n` round trips; returns the last reply."""
        for _ in range(n):
            self.send(payload)
            got = self.receive()
        return got

    def pong(self, payload: Any, n: int) -> Any:
        """Reply to `n` messages; returns the last of them."""
        for _ in range(n):
            got = self.receive()
            self.send(payload)
        return got

    def pour(self, payload: Any, n: int) -> Any:
        """Send `n` messages, and wait until the other end has the last; returns its word."""
        for _ in range(n):
            self.send(payload)
        return (self.word or self).receive()

    def drain(self, payload: Any, n: int) -> Any:
        """Take `n` messages, and confirm the last, which is returned."""
        for _ in range(n):
            got = self.receive()
        (self.word or self).send(WORD)
        return got
