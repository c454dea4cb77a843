"""A first look at a user's function: its duration, the sizes of items and results, and whether it can be measured."""

from __future__ import annotations

import io
import pickle
import time
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from crossover.design.farming import Look
from crossover.errors import CrossoverError
from crossover.measure.farms.user_code import functions, reason_of, unfold

SECONDS = 0.5
"""The function is called again until it has taken so long, or CALLS times."""
CALLS = 20


def look(file: str, sources: Mapping[str, str]) -> Look:
    """Call the functions of a user's file a few times.

    Raises CrossoverError, in a line that names the file, the reason and the remedy, for a file that cannot be imported,
    items that are no list or none, a function that raises or prints, and results that differ from call to call.
    """
    printed = io.StringIO()
    with unfold(sources), redirect_stdout(printed):
        code = _tried(file, "cannot be imported", lambda: functions(file))
        items = _tried(file, "items(2) fails", lambda: code.items(2))
        if not isinstance(items, list) or len(items) != 2:
            given = f"a list of {len(items)}" if isinstance(items, list) else f"a {type(items).__name__}"
            raise CrossoverError(f"{file}: items(2) returned {given}; return a list with as many items as asked for")
        seconds: list[float] = []
        results: list[Any] = []
        began = time.perf_counter()
        while len(seconds) < 3 or (len(seconds) < CALLS and time.perf_counter() - began < SECONDS):
            start = time.perf_counter()
            results.append(_tried(file, "task fails", lambda: code.task(items[0])))
            seconds.append(time.perf_counter() - start)
            if seconds[0] > SECONDS and len(seconds) == 2:
                break
        same = _tried(file, "the results cannot be compared", lambda: code.same(results[1], results[0]))
    if not same:
        raise CrossoverError(
            f"{file}: two calls of task on one item returned different results; seed what is random, or add "
            "same(got, expected), which tells whether a result is right"
        )
    if text := printed.getvalue().strip():
        first = text.splitlines()[0][:60]
        raise CrossoverError(f"{file}: prints {first!r}; remove that, since printing takes time too")
    times = sorted(seconds[1:])
    return Look(times[len(times) // 2], _pickled(items[0]), _pickled(results[0]))


def _tried(file: str, what: str, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        raise CrossoverError(f"{file}: {what}: {reason_of(error, Path(file).name)}; correct it") from error


def _pickled(value: Any) -> int | None:
    try:
        return len(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))
    except Exception:
        return None
