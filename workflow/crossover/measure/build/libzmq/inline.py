"""The message structs of the builds of libzmq, and how long a message each keeps within itself.

Both who builds a variant and who measures it must know. How variants are built is none of the launches' business, so
this stands alone.
"""

from __future__ import annotations

from dataclasses import dataclass

AROUND_BYTES = {"2.2.0": {"": 10, "union": 8, "packed": 2}, "4.3.4": {"": 31}}
"""Bytes of a struct that are not message, by the version of the line and the struct's layout: the line's own where it
has no name. In a `union` the message lies where the pointer to a longer one would, so the pointer takes no room of its
own; two bytes of flags and size follow, and padding up to a multiple of 8 bytes. `packed`, by `#pragma pack(1)`, is
that union without padding."""


@dataclass(frozen=True)
class Struct:
    """The message struct of one build: the version of its line, its size, its layout."""

    version: str
    bytes: int
    layout: str = ""

    @classmethod
    def of(cls, name: str) -> Struct:
        """The struct of a library by its name, `libzmq-VERSION-BYTES` or `libzmq-VERSION-BYTES-LAYOUT`.

        Raises ValueError for a name that is none.

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
        """The longest message within it; less than 1 where it is too small for any."""
        return self.bytes - AROUND_BYTES[self.version][self.layout]
