"""How soon does a host see a file that another host wrote to the folder of results?"""

import os
import statistics
import time
import uuid
from pathlib import Path
from typing import Any

from crossover.doctor.finding import NO_PAIR, Finding, Seen, Verdict
from crossover.doctor.pair import Pair

FILES = 5
LIMIT_SECONDS = 10.0
"""Time limit of waiting for a file."""
LATE_SECONDS = 2.0
SLOW_SECONDS = 1.0
POLL_SECONDS = 0.001


def look(pair: Pair) -> dict[str, Any]:
    """The first rank's times to write a file (fsync and rename), and the times until the second sees it (None: never),
    in seconds.

    The second rank asks for each file before it exists, as Snakemake does, because some file systems cache the answer.
    """
    names: list[str] = pair.both([f".doctor-{uuid.uuid4().hex}" for _ in range(FILES)])[0]
    files = [pair.shared / name for name in names]
    pair.both([file.exists() for file in files])
    if pair.first:
        return _write(pair, files)
    awaited = iter(files)
    while pair.hear():
        pair.tell(_until_seen(next(awaited)))
    return {}


def _write(pair: Pair, files: list[Path]) -> dict[str, Any]:
    written: list[float] = []
    seen: list[float | None] = []
    error = ""
    try:
        while len(seen) < len(files) and None not in seen:
            written.append(_written(files[len(seen)]))
            pair.tell(True)
            seen.append(pair.hear())
    except OSError as reason:
        error = reason.strerror or str(reason)
    for file in files:
        file.unlink(missing_ok=True)
    pair.tell(False)
    return {"folder": str(pair.shared), "error": error, "write_seconds": written, "visible_seconds": seen}


def _written(file: Path) -> float:
    """Write a small file, whole or not at all; returns the time in seconds."""
    part = file.with_name(f"{file.name}.part")
    start = time.perf_counter()
    try:
        with part.open("wb") as opened:
            opened.write(b"0" * 4096)
            opened.flush()
            os.fsync(opened.fileno())
        part.rename(file)
        return time.perf_counter() - start
    finally:
        part.unlink(missing_ok=True)


def _until_seen(file: Path) -> float | None:
    """The time until the file is seen, in seconds; None after the limit."""
    start = time.perf_counter()
    while time.perf_counter() - start < LIMIT_SECONDS:
        try:
            file.read_bytes()
            return time.perf_counter() - start
        except FileNotFoundError:
            time.sleep(POLL_SECONDS)
    return None


def judge(seen: Seen) -> Finding:
    """A file that never appears is a problem; one that appears late, or takes long to write, is a warning."""
    facts, apart = seen.pair("shared")
    if not facts:
        return NO_PAIR
    if facts["error"]:
        step = "free some space there, or name another folder with --config results=..."
        return Finding(Verdict.PROBLEM, f"{facts['folder']} cannot be written to: {facts['error']}", step=step)
    writing = statistics.median(facts["write_seconds"])
    text = f"writing a small file, fsync and rename take {_milliseconds(writing)} in {facts['folder']}"
    if facts["visible_seconds"][-1] is None:
        step = "clone crossover into a folder that all nodes share, or name one with --config results=..."
        why = f"a file written on one host was not seen by the other within {LIMIT_SECONDS:.0f} s"
        return Finding(Verdict.PROBLEM, f"{why} in {facts['folder']}", step=step)
    slowest = max(facts["visible_seconds"])
    seen_after = f"the other host sees it after {_milliseconds(slowest)}"
    text += f"; {seen_after if apart else 'checking when others see it needs a second host'}"
    if slowest > LATE_SECONDS:
        return Finding(Verdict.WARNING, text, step=f"set latency-wait in the profile to at least {2 * slowest:.0f}")
    if writing > SLOW_SECONDS:
        return Finding(Verdict.WARNING, text, step="choose a faster file system with --config results=...")
    return Finding(Verdict.OK, text)


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.2g} ms" if seconds < 1 else f"{seconds:.1f} s"
