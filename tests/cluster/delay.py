"""A slow cable in user space: two TAP devices, between which each frame takes some time.

`python delay.py '{"<device>": <process>, "<device>": <process>}' <seconds>` creates each device in the network
namespace of its process.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import selectors
import struct
import sys
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

NEW_NETWORK = 0x40000000
TUNSETIFF = 0x400454CA
TAP_WITHOUT_HEADER = 0x0002 | 0x1000
FRAME_BYTES = 65536


def tap(name: str, process: int) -> int:
    """Open a new TAP device of that name in the network namespace of a process."""
    with Path(f"/proc/{process}/ns/net").open() as there:
        if ctypes.CDLL(None, use_errno=True).setns(there.fileno(), NEW_NETWORK):
            raise OSError(ctypes.get_errno(), "setns")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), TAP_WITHOUT_HEADER))
    return device


def forward(one: int, other: int, seconds: float) -> None:
    """Forward every frame `seconds` after its arrival, in both directions."""
    waiting: deque[tuple[float, int, bytes]] = deque()
    # epoll waits for whole milliseconds.
    ready = selectors.SelectSelector()
    for source, target in ((one, other), (other, one)):
        ready.register(source, selectors.EVENT_READ, target)
    while True:
        pause = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        for key, _ in ready.select(pause):
            waiting.append((time.monotonic() + seconds, key.data, os.read(key.fd, FRAME_BYTES)))
        while waiting and waiting[0][0] <= time.monotonic():
            _, target, frame = waiting.popleft()
            try:
                os.write(target, frame)
            except OSError:
                continue  # the other end is down; TCP repeats lost frames


if __name__ == "__main__":
    ends = [tap(name, process) for name, process in json.loads(sys.argv[1]).items()]
    with suppress(OSError):
        # Run before all other processes, because any wait for a processor would add to the delay.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    print("up", flush=True)
    forward(*ends, float(sys.argv[2]))
