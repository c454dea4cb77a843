"""The cores on which the two ends of a block run.

The kernel wakes an end beside the other or on an idle core, and keeps it there for a whole block: round trips differ by
a factor of six between the two (docs/decisions/cores.md). So each block says where its ends run.
"""

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from crossover.design.protocol import Keys

Cpus = frozenset[int]

ALLOWED: Cpus = frozenset(os.sched_getaffinity(0))
"""The logical processors that this process may use, before it is pinned."""

CPUS = Path("/sys/devices/system/cpu")
"""The kernel's facts of logical processors."""

ONE_CORE = "its job has one core, and `own` needs two"
"""Why a block has no cores of its own."""


def bindings(allowed: Collection[int] = ALLOWED, facts: Path = CPUS) -> dict[str, tuple[Cpus, Cpus]]:
    """The logical processors of the first and of the other end in each binding that `allowed` ones make possible.

    In the order of sockets, cores and hardware threads: `own` takes the first threads of the first two cores, or the
    two threads of an only core; `shared` the first of all. None stand for `free`.
    """
    cores: dict[tuple[int, ...], list[int]] = {}
    for cpu in sorted(allowed):
        cores.setdefault(_core(facts, cpu), []).append(cpu)
    threads = [own[0] for _, own in sorted(cores.items())] if len(cores) > 1 else next(iter(cores.values()))
    first, *others = (frozenset([cpu]) for cpu in threads)
    found: dict[str, tuple[Cpus, Cpus]] = {"shared": (first, first), "free": (frozenset(), frozenset())}
    return found | ({"own": (first, others[0])} if others else {})


def _core(facts: Path, cpu: int) -> tuple[int, ...]:
    """The socket and the core of a logical processor; where the kernel does not say, it is a core of its own."""
    names = ("physical_package_id", "core_id")
    try:
        return tuple(int((facts / f"cpu{cpu}/topology" / name).read_text(encoding="utf-8")) for name in names)
    except (OSError, ValueError):
        return (cpu,)


BINDINGS = bindings()
"""Those of this process and an end beside it."""


def take(keys: Keys) -> Cpus | None:
    """Pin this end for a block of a curve with these keys; returns what the other end must `pin`.

    None if the job has too few cores. A curve without a binding is free.
    """
    if (ends := BINDINGS.get(keys.get("binding", "free"))) is None:
        return None
    pin(ends[0])
    return ends[1]


def pin(cpus: Cpus) -> None:
    """Have all threads of this process run on these logical processors, or on ALLOWED for none; later threads too."""
    if os.sched_getaffinity(0) == (wanted := cpus or ALLOWED):
        return
    for thread in Path("/proc/self/task").iterdir():
        with suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread.name), wanted)
