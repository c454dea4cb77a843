"""Message structs of libzmq's builds, and the longest message that each holds inline: all that launches need."""

from dataclasses import dataclass
from typing import Self

AROUND_BYTES = {"2.2.0": {"": 10, "union": 8, "aligned": 4, "packed": 2}, "4.3.4": {"": 31}}
"""Bytes of a struct that hold no message, by version and layout; the empty layout is the version's own. In a `union`,
the message replaces the pointer to a longer one. Two bytes of flags and size follow, and padding to a multiple of 8
bytes. `packed` (`#pragma pack(1)`) is this union without padding, `aligned` (`#pragma pack(4)`) with padding to 4."""


@dataclass(frozen=True)
class Struct:
    """The message struct of one build: libzmq's version, the struct's size and layout."""

    version: str
    bytes: int
    layout: str = ""

    @classmethod
    def of(cls, name: str) -> Self:
        """The struct of a library by its name, `libzmq-VERSION-BYTES` or `libzmq-VERSION-BYTES-LAYOUT`.

        Raises ValueError for any other name.

        >>> Struct.of("libzmq-2.2.0-32-packed")
        Struct(version='2.2.0', bytes=32, layout='packed')
        """
        _, version, size, *layout = name.split("-")
        found = cls(version, int(size), "-".join(layout))
        if found.layout not in AROUND_BYTES.get(version, {}):
            raise ValueError(f"{name}: names no build of libzmq")
        return found

    @property
    def name(self) -> str:
        """The name of its library."""
        return "-".join(filter(None, ("libzmq", self.version, str(self.bytes), self.layout)))

    @property
    def limit_bytes(self) -> int:
        """The longest inline message; less than 1 if the struct is too small for any."""
        return self.bytes - AROUND_BYTES[self.version][self.layout]
