"""The peak memory of this process, from a counter that Linux lets a process reset."""

import re
from collections.abc import Callable
from pathlib import Path

RESET = Path("/proc/self/clear_refs")
STATUS = Path("/proc/self/status")


def watch() -> Callable[[], int]:
    """Reset the counter; returns a function for the largest resident set since then, in bytes (0: reset not allowed).

    This is `VmHWM` of proc(5), after a 5 was written to `clear_refs`. It includes the interpreter and shared libraries.
    It is not exact, because the kernel adds up the processors' counts in batches.
    """
    try:
        RESET.write_text("5", encoding="utf-8")
    except OSError:
        return lambda: 0
    return _peak_bytes


def _peak_bytes() -> int:
    found = re.search(r"^VmHWM:\s+(\d+) kB$", STATUS.read_text(encoding="utf-8"), re.MULTILINE)
    return 1024 * int(found[1]) if found else 0
