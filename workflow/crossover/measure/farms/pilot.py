"""A first look at a user's function: its duration, the sizes of items and results, and whether it can be measured."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from crossover.design.farming import Look
from crossover.errors import CrossoverError
from crossover.measure.farms import programs
from crossover.measure.farms.user_code import functions, kept, reason_of, refusing_prints, renewed, unfold

SECONDS = 0.5
"""The function is called again until it has taken so long, or CALLS times."""
CALLS = 20
LEAST_SECONDS = 0.01
"""Calls that take less in all tell nothing of the cores that they use."""
PROGRAM_SECONDS = 30
"""A program with one item ends by then, unless a thread that it has started lives on."""
NEW_ITEMS = 3
REMEMBERS = 3
"""A function remembers its results if a first call with an item takes more than so many times a second, with each."""


def look(file: str, sources: Mapping[str, str], loop: str) -> Look:
    """Call the functions of a user's file a few times, and run the program of the arm `loop`.

    Raises CrossoverError, in a line that names the file, the reason and the remedy, for a file that cannot be imported,
    items that are no list or none, a function that raises or prints, and results that differ from call to call.
    """
    with unfold(sources), refusing_prints(file):
        began = time.perf_counter()
        code = functions(file)
        import_seconds = time.perf_counter() - began
        items = _tried(file, "items(2) fails", lambda: code.items(2))
        if not isinstance(items, list) or len(items) != 2:
            given = f"a list of {len(items)}" if isinstance(items, list) else f"a {type(items).__name__}"
            raise CrossoverError(f"{file}: items(2) returned {given}; return a list with as many items as asked for")
        seconds: list[float] = []
        results: list[Any] = []
        shared = _tried(file, "shared() fails", lambda: kept(file))

        def call(item: Any) -> tuple[float, Any]:
            # A copy, because a task may change its item.
            arguments, start = code.arguments(renewed(item), shared), time.perf_counter()
            result = _tried(file, "task fails", lambda: code.task(*arguments))
            return time.perf_counter() - start, result

        began, on_cores = time.perf_counter(), time.process_time()
        while len(seconds) < 3 or (len(seconds) < CALLS and time.perf_counter() - began < SECONDS):
            took, result = call(items[0])
            results.append(result)
            seconds.append(took)
            if seconds[0] > SECONDS and len(seconds) == 2:
                break
        called, on_cores = time.perf_counter() - began, time.process_time() - on_cores
        # Threads of a library can spin for a moment after its first call.
        cores = on_cores / called if called > LEAST_SECONDS else 1.0
        new = [(call(item)[0], call(item)[0]) for item in code.items(1 + NEW_ITEMS)[1:] if seconds[-1] <= SECONDS]
        same = _tried(
            file,
            "the results cannot be compared",
            lambda: code.same(results[1], results[0]),
            "add same(got, expected), which tells whether a result is right",
        )
        if seconds[-1] <= SECONDS and same and not code.same(call(code.items(2)[0])[1], results[0]):
            raise CrossoverError(f"{file}: items(2) gives other items at each call; seed what is random")
        began = time.perf_counter()
        if not code.shared:
            limit = PROGRAM_SECONDS + 10 * seconds[-1] + 2 * import_seconds
            _tried(file, "fails as a whole program", lambda: programs.run(file, loop, 1, 1, limit))
        program_seconds = time.perf_counter() - began
    if not same:
        raise CrossoverError(
            f"{file}: two calls of task on one item returned different results; seed what is random, or add "
            "same(got, expected), which tells whether a result is right"
        )
    times = sorted(seconds[1:])
    began = time.perf_counter()
    _pickled((code.arguments(items[0], shared), results[0]))
    sending_seconds = time.perf_counter() - began
    sizes = _pickled(items[0]), _pickled(results[0])
    remembers = bool(new) and min(first / later for first, later in new) > REMEMBERS
    first_seconds = min(first for first, _ in new) if remembers else 0.0
    took = times[len(times) // 2]
    return Look(took, *sizes, sending_seconds, program_seconds, cores, bool(code.shared), first_seconds, import_seconds)


def _tried(file: str, what: str, call: Callable[[], Any], remedy: str = "correct it") -> Any:
    try:
        return call()
    except (Exception, SystemExit) as error:
        raise CrossoverError(f"{file}: {what}: {reason_of(error, Path(file).name)}; {remedy}") from error


def _pickled(value: Any) -> int | None:
    """The length of a value when pickled, if it can be; unpickles it too, so that both can be timed."""
    try:
        text = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
        pickle.loads(text)
        return len(text)
    except Exception:
        return None
