"""Messages through a block of shared memory, which the sender fills and the receiver empties in turns."""

from collections.abc import Sequence
from multiprocessing.shared_memory import SharedMemory
from typing import Any

LENGTH_BYTES = 8
"""Of the length before each message, where a way does not keep messages apart."""


class Direction:
    """One direction of shared memory: a block with one message and its length, filled and emptied in turns."""

    def __init__(self, block: SharedMemory, turns: tuple[Any, Any]):
        assert block.buf is not None, "open blocks have a buffer"
        self.memory, (self.full, self.free) = block.buf, turns

    def send(self, message: bytes) -> None:
        """Copy a message into the block, once it is free."""
        self.free.acquire()
        self.memory[:LENGTH_BYTES] = len(message).to_bytes(LENGTH_BYTES, "little")
        self.memory[LENGTH_BYTES : LENGTH_BYTES + len(message)] = message
        self.full.release()

    def receive(self) -> bytes:
        """Copy the message out of the block, once it is full."""
        self.full.acquire()
        end = LENGTH_BYTES + int.from_bytes(self.memory[:LENGTH_BYTES], "little")
        message = bytes(self.memory[LENGTH_BYTES:end])
        self.free.release()
        return message

    def send_parts(self, parts: Sequence[Any]) -> None:
        """Copy the pieces of memory of one message into the block, once it is free."""
        self.free.acquire()
        self.memory[:LENGTH_BYTES] = len(parts).to_bytes(LENGTH_BYTES, "little")
        end = LENGTH_BYTES
        for part in parts:
            start, end = end + LENGTH_BYTES, end + LENGTH_BYTES + len(part)
            self.memory[start - LENGTH_BYTES : start] = len(part).to_bytes(LENGTH_BYTES, "little")
            self.memory[start:end] = part
        self.full.release()

    def receive_parts(self) -> list[bytes]:
        """Copy these pieces out of the block, once it is full."""
        self.full.acquire()
        parts, end = [], LENGTH_BYTES
        for _ in range(int.from_bytes(self.memory[:LENGTH_BYTES], "little")):
            start = end + LENGTH_BYTES
            end = start + int.from_bytes(self.memory[end:start], "little")
            parts.append(bytes(self.memory[start:end]))
        self.free.release()
        return parts

    def is_readable(self) -> bool:
        """Whether a message is left; it is taken."""
        return bool(self.full.acquire(block=False))
