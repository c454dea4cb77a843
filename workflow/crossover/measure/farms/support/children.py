"""Workers that a library of Python starts as children of rank 0: they begin together, and leave no names behind.

Multiprocessing's semaphores have names in a folder that all processes of the host share, and a killed process leaves
them there. So they are unlinked once every worker has opened them.
"""

from multiprocessing import util
from multiprocessing.context import SpawnContext
from multiprocessing.synchronize import Semaphore, SemLock
from typing import Any

from crossover.measure.farms.support.server import START_SECONDS
from crossover.measure.processes.ending import die_with_parent
from crossover.records.holes import HoleKind, Refusal


def begin(started: Semaphore) -> None:
    """In a worker, when it begins: end with rank 0."""
    die_with_parent()
    started.release()


class Children:
    """The workers of one farm called `name`, made between `Children(...)` and `await_start`.

    Each calls `begin` with `started`.
    """

    def __init__(self, spawn: SpawnContext, name: str, workers: int):
        self._before = set(_named())
        self._name, self._workers = name, workers
        self.started = spawn.Semaphore(0)

    def all_made(self) -> None:
        """Take note of the semaphores: farms start one after another, and each may unlink only its own."""
        self._own = [found for key, found in _named().items() if key not in self._before]

    def await_start(self) -> None:
        """Wait until every worker has begun, then unlink the semaphores. Raises Refusal if one does not begin."""
        for _ in range(self._workers):
            if not self.started.acquire(timeout=START_SECONDS):
                reason = f"a worker of {self._name} did not start within {START_SECONDS} s"
                raise Refusal(HoleKind.CRASHED, reason)
        for unlink in self._own:
            unlink()


def _named() -> dict[Any, Any]:
    """What multiprocessing would unlink at the end of this process."""
    registry = util._finalizer_registry  # type: ignore[attr-defined]
    return {key: each for key, each in registry.items() if each._callback is SemLock._cleanup}  # type: ignore[attr-defined]
