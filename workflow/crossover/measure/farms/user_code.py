"""A user's file in the processes of a launch: its functions, and their results.

A file has two functions, and may have a third: `items(count)` returns a list of arguments, `task(item)` runs on each,
and `same(got, expected)` tells whether a result is right.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Functions:
    """The functions of a user's file."""

    items: Callable[[int], Any]
    task: Callable[[Any], Any]
    same: Callable[[Any, Any], bool]


@contextmanager
def unfold(sources: Mapping[str, str]) -> Iterator[Path]:
    """Write these files to a folder from which this process, and those that it starts, import them."""
    with tempfile.TemporaryDirectory(prefix="user-") as folder:
        for name, text in sources.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        before = os.environ.get("PYTHONPATH", "")
        # Behind our own package, which it must not hide.
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [before, folder]))
        sys.path.append(folder)
        try:
            yield Path(folder)
        finally:
            os.environ["PYTHONPATH"] = before
            sys.path.remove(folder)


@cache
def functions(file: str) -> Functions:
    """The functions of the file with this name, in a folder that is unfolded."""
    module = import_module(Path(file).stem)
    return Functions(module.items, module.task, getattr(module, "same", equal))


def equal(got: Any, expected: Any) -> bool:
    """Whether two results are equal: element by element for arrays, by their own method for tables; NaN equals NaN.

    >>> equal([1.0, float("nan")], [1.0, float("nan")]), equal({"a": (1, 2)}, {"a": (1, 3)})
    (True, False)
    """
    if isinstance(expected, Mapping):
        return (
            isinstance(got, Mapping)
            and got.keys() == expected.keys()
            and all(equal(got[key], value) for key, value in expected.items())
        )
    if isinstance(expected, (list, tuple)):
        return isinstance(got, (list, tuple)) and len(got) == len(expected) and all(map(equal, got, expected))
    # pandas, polars, pyarrow.
    if hasattr(expected, "equals"):
        return bool(expected.equals(got))
    if hasattr(expected, "__array__"):
        import numpy as np

        ours, theirs = np.asarray(got), np.asarray(expected)
        return ours.dtype == theirs.dtype and np.array_equal(ours, theirs, equal_nan=theirs.dtype.kind in "fc")
    return bool(got == expected or (got != got and expected != expected))


def reason_of(error: BaseException, file: str) -> str:
    """An exception in one line: its name and text, the line of the user's file, and what to do about it."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).name == file]
    place = f"{file}, line {lines[-1]}" if lines else file
    text = " ".join(str(error).split())[:200]
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if "pickle" in text.casefold() or "pickle" in type(error).__name__.casefold():
        return f"{said}; processes get items and results pickled: return plain values, or use threads"
    return f"{said} ({place})"
