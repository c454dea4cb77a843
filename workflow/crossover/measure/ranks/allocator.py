"""Puts glibc's allocator into the state that it has in a program whose messages have one length.

A block of 128 KiB or more gets pages of its own from the kernel, and each free of such a block raises that threshold to
its size (mallopt(3), M_MMAP_THRESHOLD), and the threshold from which free memory at the heap's end goes back to twice
as much (M_TRIM_THRESHOLD). So a launch with many lengths would leave all of them the thresholds of the longest.
"""

import ctypes
import mmap

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""The numbers of mallopt's parameters, from glibc's malloc.h."""
LEAST_BYTES, MOST_BYTES = 128 * 1024, 32 * 1024 * 1024
"""The ends of the range in which glibc moves the threshold."""


def settle(longest_bytes: int) -> None:
    """Set the thresholds as if the longest block freed so far had this length. Does nothing without glibc."""
    # With the header of the message and of the block, in whole pages.
    block = (longest_bytes // mmap.PAGESIZE + 1) * mmap.PAGESIZE
    threshold = max(LEAST_BYTES, block) if block <= MOST_BYTES else LEAST_BYTES
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):
        mallopt(MMAP_THRESHOLD, threshold)
        mallopt(TRIM_THRESHOLD, 2 * threshold)
