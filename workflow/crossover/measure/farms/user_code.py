"""A user's file in the processes of a launch: its functions, and their results.

A file has two functions, and may have two more: `items(count)` returns a list of arguments, `task(item)` runs on each,
`same(got, expected)` tells whether a result is right, and `shared()` returns what all tasks get as a second argument.
"""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from copy import deepcopy
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from crossover.errors import CrossoverError

NOTEBOOK = "notebook"
"""The name of a module that is nowhere."""


@dataclass(frozen=True)
class Functions:
    """The functions of a user's file."""

    items: Callable[[int], Any]
    task: Callable[..., Any]
    same: Callable[[Any, Any], bool]
    shared: Callable[[], Any] | None

    def arguments(self, item: Any, shared: Any) -> tuple[Any, ...]:
        """What a task gets."""
        return (item, shared) if self.shared else (item,)


@contextmanager
def unfold(sources: Mapping[str, str]) -> Iterator[Path]:
    """Write these files to a folder from which this process, and those that it starts, import them."""
    with tempfile.TemporaryDirectory(prefix="user-", ignore_cleanup_errors=True) as folder:
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


@contextmanager
def refusing_prints(file: str) -> Iterator[None]:
    """Raise CrossoverError, in a line that names the file, if something is printed in this context."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        yield
    if text := printed.getvalue().strip():
        first = text.splitlines()[0][:60]
        raise CrossoverError(f"{file}: prints {first!r}; remove that, since printing takes time too")


def imported(file: str) -> ModuleType:
    """The file with this name as a module, in a folder that is unfolded.

    Raises CrossoverError, with the user's line, if it cannot be imported.
    """
    try:
        return import_module(Path(file).stem)
    except (Exception, SystemExit) as error:
        is_program = isinstance(error, SystemExit)
        remedy = 'guard what only a program does by `if __name__ == "__main__"`' if is_program else "correct it"
        raise CrossoverError(f"{file}: cannot be imported: {reason_of(error, Path(file).name)}; {remedy}") from error


@cache
def functions(file: str) -> Functions:
    """The functions of the file with this name, in a folder that is unfolded. Raises CrossoverError as `imported`."""
    module = imported(file)
    same, shared = getattr(module, "same", equal), getattr(module, "shared", None)
    return Functions(module.items, module.task, same, shared)


@cache
def kept(file: str) -> Any:
    """The shared argument, which each process makes once; None without one."""
    shared = functions(file).shared
    return shared() if shared else None


def with_kept(file: str, item: Any) -> Any:
    """Run a task with the shared argument of this process."""
    return functions(file).task(item, kept(file))


def with_sent(file: str, item_and_shared: tuple[Any, Any]) -> Any:
    """Run a task with a shared argument that came with its item."""
    return functions(file).task(*item_and_shared)


def renewed(value: Any) -> Any:
    """A deep copy, which a task may change as it may change what a pool hands to it; itself if it cannot be copied."""
    try:
        return deepcopy(value)
    except Exception:
        return value


def without_module(text: str) -> Callable[[Any], Any]:
    """The task of a file with this text, as if it were in a notebook: no process can import it."""
    namespace: dict[str, Any] = {"__name__": NOTEBOOK}
    exec(compile(text, NOTEBOOK, "exec"), namespace)
    task: Callable[[Any], Any] = namespace["task"]
    return task


def equal(got: Any, expected: Any) -> bool:
    """Whether two results are equal: by elements and fields, or by their own method for tables; NaN and NaT equal
    themselves, wherever they stand.

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
    if is_dataclass(expected) and not isinstance(expected, type):
        # One with a comparison of its own may be equal with other fields; with arrays as fields, none may be possible.
        with suppress(Exception):
            if got == expected:
                return True
        own = [field.name for field in fields(expected) if field.compare]
        return type(got).__qualname__ == type(expected).__qualname__ and all(
            equal(getattr(got, name), getattr(expected, name)) for name in own
        )
    # pandas, polars, pyarrow.
    if hasattr(expected, "equals"):
        return bool(expected.equals(got))
    if hasattr(expected, "__array__"):
        import numpy as np

        ours, theirs = np.asarray(got), np.asarray(expected)
        if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
            return False
        if names := theirs.dtype.names:
            return all(equal(ours[name], theirs[name]) for name in names)
        if theirs.dtype.kind == "O":
            return all(map(equal, ours.flat, theirs.flat))
        return np.array_equal(ours, theirs, equal_nan=theirs.dtype.kind in "fcmM")
    return bool(got == expected or (got != got and expected != expected))


def reason_of(error: BaseException, file: str) -> str:
    """An exception in one line: its name and text, the line of the user's file, and what to do about it.

    A CrossoverError is such a line already.
    """
    if type(error) is CrossoverError:
        return str(error)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).name == file]
    place = f"{file}, line {lines[-1]}" if lines else file
    text = " ".join(str(error).split())[:200]
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return with_remedy(f"{said} ({place})")


def with_remedy(said: str) -> str:
    """What an error says, with the remedy where that is known."""
    if said.startswith("FileNotFoundError"):
        return f"{said}; modules beside the file come along, data do not: name them by an absolute path"
    if f"'{NOTEBOOK}'" in said:
        return f"{said}; its workers must import the function: put it into a module"
    if found := re.search(r"<locals>\.(\w+)", said):
        return (
            f"{said}; pickle cannot find {found[1]!r}, a function inside another: decorate it with functools.wraps, or "
            "define it at the top of a module"
        )
    if "pickle" in said.casefold():
        return f"{said}; processes get items and results pickled: return plain values, or use threads"
    return said
