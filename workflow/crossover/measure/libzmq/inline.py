"""How long a message libzmq keeps within its struct, by line and size of the struct.

Both who builds a variant and who measures it must know. How variants are built is none of the launches' business, so
this stands alone.
"""

from __future__ import annotations

AROUND_BYTES = {"2.2.0": 10, "4.3.4": 31}
"""Bytes of a struct that are not message, by the version of the line."""


def limit_bytes(version: str, struct_bytes: int) -> int:
    """The longest message within a struct of so many bytes; less than 1 where the struct is too small for any."""
    return struct_bytes - AROUND_BYTES[version]
