"""Children of rank 0 that Python's multiprocessing starts: they begin together, and leave no names behind.

Semaphores and shared memory have names in a folder that all processes of the host share, and a killed process leaves
them there. So they are unlinked once every child has opened them. Until then, their names belong to the launch's own
folder, and go with it.
"""

import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import util
from multiprocessing.connection import wait
from multiprocessing.context import SpawnContext
from multiprocessing.synchronize import Semaphore, SemLock
from pathlib import Path
from typing import Any

from crossover.measure.ranks.ending import die_with_parent
from crossover.measure.ranks.log import LOST
from crossover.records.holes import HoleKind, Refusal

START_SECONDS = 60
"""Time limit for a child to begin."""


def begin(started: Semaphore) -> None:
    """In a child, when it begins: end with rank 0."""
    die_with_parent()
    started.release()


def own_prefix() -> str:
    """The start of names in shared memory, by which host_lock.py removes them with the launch's own folder."""
    return f"{Path(tempfile.gettempdir()).name}."


class Children:
    """The children of one kind, made between `Children(...)` and `all_made`; messages call each of them `name`.

    Each calls `begin` with `started`. Once they `may_end`, their end is no failure.
    """

    def __init__(self, spawn: SpawnContext, name: str, count: int):
        multiprocessing.current_process()._config["semprefix"] = f"/{own_prefix()}"  # type: ignore[attr-defined]
        self._before = {*_named(), *multiprocessing.active_children()}
        self._name, self._count, self.may_end = name, count, False
        self.started = spawn.Semaphore(0)

    def all_made(self) -> None:
        """Take note of the semaphores: farms start one after another, and each may unlink only its own."""
        self._own = [found for key, found in _named().items() if key not in self._before]

    def watch(self) -> None:
        """From now on, end this process when a child ends, because it could wait for the child without end."""
        own = [child.sentinel for child in multiprocessing.active_children() if child not in self._before]
        threading.Thread(target=self._await_end, args=(own,), daemon=True).start()

    def _await_end(self, sentinels: list[int]) -> None:
        wait(sentinels)
        if not self.may_end:
            print(f"{self._name}, which the launch{LOST}", file=sys.stderr, flush=True)
            os._exit(1)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch the children as long as this context."""
        self.watch()
        try:
            yield
        except Exception:
            # This process often notices a lost child before the watch does, which reports it and ends this process.
            time.sleep(1)
            raise
        finally:
            self.may_end = True

    def await_start(self) -> None:
        """Wait until every child has begun, then unlink the semaphores. Raises Refusal if one does not begin."""
        for _ in range(self._count):
            if not self.started.acquire(timeout=START_SECONDS):
                raise Refusal(HoleKind.CRASHED, f"{self._name} did not start within {START_SECONDS} s")
        for unlink in self._own:
            unlink()


def _named() -> dict[Any, Any]:
    """What multiprocessing would unlink at the end of this process."""
    registry = util._finalizer_registry  # type: ignore[attr-defined]
    return {key: each for key, each in registry.items() if each._callback is SemLock._cleanup}  # type: ignore[attr-defined]
