"""Small messages between two threads over inproc, on builds of libzmq whose message structs differ in size.

A message up to the build's inline limit is stored in its struct, a longer one in memory of its own. A larger struct
stores more messages inline, and makes every message larger. One process loads all builds, each with its own symbols, so
that they alternate like any arms. The null arm is the reference's file, loaded a second time. Each block has its own
context.

- throughput = messages / (last receive - first send), PUSH to PULL, in bursts of at most `in_flight_bytes`, which bound
  the queue instead of high-water marks;
- round trip = time / n, REQ to REP.

An `untouched` payload is neither written nor read, as in libzmq's own inproc_thr and inproc_lat. A `touched` payload is
written by the sender and compared by the receiver, every byte.
"""

import ctypes
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from crossover.design.arm import Arm, arms_of
from crossover.design.cell import Cell
from crossover.experiments.zmq_message_size import BUILT, Settings
from crossover.measure.native import loader
from crossover.measure.native.message_struct import Struct
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import DAMAGED, Block
from crossover.records.holes import HoleKind, Refusal

LARGEST_STRUCT_BYTES = 128
"""The size of the largest struct. A queued message takes at most this much beside its bytes. It is counted for every
arm, so that all arms send bursts of one length: a burst starts with an empty queue, so the rate depends on its length.
"""


def lines(settings: Settings) -> dict[str, dict[str, Struct]]:
    """The struct of each arm, by version of libzmq: {version: {arm: struct}}.

    A version without the reference, or without a rival, is left out.
    """
    found: dict[str, dict[str, Struct]] = {}
    for arm in settings.arms:
        for struct in map(Struct.of, BUILT[arm][1:]):
            found.setdefault(struct.version, {})[arm] = struct
    return {v: found[v] for v in sorted(found) if settings.reference in found[v] and len(found[v]) > 1}


def sizes(settings: Settings, structs: dict[str, Struct]) -> list[int]:
    """The points of the axis, and each size within `scan_bytes` of a build's inline limit."""
    around = range(1 - settings.scan_bytes, settings.scan_bytes + 1)
    scanned = (struct.limit_bytes + step for struct in structs.values() for step in around)
    return sorted({*settings.sizes_bytes, *scanned})


def cells(settings: Settings) -> list[Cell]:
    """One cell per version of libzmq, pattern, payload and message size, with the arms of that version."""
    return [
        Cell(
            {"library_version": version, "pattern": pattern, "transport": "inproc", "payload": payload},
            size,
            tuple(structs),
        )
        for version, structs in lines(settings).items()
        for pattern in settings.patterns
        for payload in settings.payloads
        for size in sizes(settings, structs)
    ]


class Variant:
    """One loaded build of libzmq, for the C driver; `path` may be a copy of the library's file."""

    def __init__(self, driver: ctypes.CDLL, path: str, struct: Struct):
        """Load it with private symbols. Raises Refusal (WRONG_SETUP) if it is another build."""
        self.driver = driver
        self.library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
        self.handle = ctypes.c_void_p(driver.inproc_open(ctypes.c_void_p(self.library._handle)))
        if not self.handle:
            raise Refusal(HoleKind.WRONG_SETUP, f"{path} is no libzmq that this driver knows; delete it and run again")
        found = driver.inproc_struct_bytes(self.handle), driver.inproc_inline_bytes(self.handle)
        if found != (struct.bytes, struct.limit_bytes):
            raise Refusal(
                HoleKind.WRONG_SETUP,
                f"{path} has a struct of {found[0]} bytes that holds {found[1]}, instead of {struct.bytes} that holds "
                f"{struct.limit_bytes}; delete it and run again",
            )

    def exchange(self, size_bytes: int, n: int, pattern: bytes | None, round_trips: bool) -> tuple[int, int]:
        """The nanoseconds of `n` messages or round trips; and 0, an errno, or -1 for damaged messages."""
        nanoseconds = ctypes.c_int64()
        code = self.driver.inproc_exchange(
            self.handle, size_bytes, n, pattern, int(round_trips), ctypes.byref(nanoseconds)
        )
        return nanoseconds.value, code


@dataclass(frozen=True)
class Exchanges:
    """Rank 0, the only rank. `variants` are those of each (version, arm)."""

    variants: dict[tuple[str, str], Variant]
    in_flight_bytes: int

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Exchange `n` messages of `cell.x` bytes, in bursts within the bytes in flight, or make `n` round trips."""
        version, pattern, payload = (cell.keys[key] for key in ("library_version", "pattern", "payload"))
        variant = self.variants[version, arm.name]
        written = os.urandom(cell.x) if payload == "touched" else None
        round_trips = pattern == "REQ/REP"
        most = n if round_trips else max(1, self.in_flight_bytes // (cell.x + LARGEST_STRUCT_BYTES))
        nanoseconds = 0
        for sent in range(0, n, most):
            took, code = variant.exchange(cell.x, min(most, n - sent), written, round_trips)
            nanoseconds += took
            if code > 0:
                raise OSError(code, f"libzmq {version}, {arm.name}, {pattern}: {os.strerror(code)}")
            if code:
                return Block(nanoseconds / 1e9, fault=DAMAGED)
        seconds = nanoseconds / 1e9
        return Block(seconds, {"round trip": seconds / n} if round_trips else {"throughput": n / seconds})


@contextmanager
def drive(peers: Peers, settings: Settings) -> Iterator[Exchanges]:
    """Load every build; for the null arm, the reference's again, from a copy, as a second instance."""
    driver = loader.load("zmq_inproc")
    driver.inproc_open.restype = ctypes.c_void_p
    driver.inproc_struct_bytes.restype = driver.inproc_inline_bytes.restype = ctypes.c_long
    driver.inproc_exchange.argtypes = (
        *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long, ctypes.c_char_p, ctypes.c_int),
        ctypes.c_void_p,
    )
    variants = {}
    with TemporaryDirectory(prefix="crossover-null-") as folder:
        for version, structs in lines(settings).items():
            for arm in arms_of(replace(settings, arms=tuple(structs))):
                name = structs[arm.runs].name
                path = loader.load(name)._name
                if arm.null:
                    path = shutil.copy(path, str(Path(folder) / f"{name}.so"))
                variants[version, arm.name] = Variant(driver, path, structs[arm.runs])
    yield Exchanges(variants, settings.in_flight_bytes)


def serve(peers: Peers, settings: Settings) -> None:
    """Never called: both ends are threads of rank 0."""
