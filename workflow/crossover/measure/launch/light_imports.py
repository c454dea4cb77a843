"""Spares a measuring process what it would load for nothing."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder


class _Absent(MetaPathFinder):
    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(f"{fullname} is kept out of measuring processes", name=fullname)


def without_pandas() -> None:
    """Let pandas look as if it were not installed: pyarrow loads it, in a second, as it meets its first list."""
    sys.meta_path.insert(0, _Absent())
