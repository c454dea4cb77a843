"""Keeps slow imports out of measuring processes."""

import sys
from importlib.abc import MetaPathFinder


class _Absent(MetaPathFinder):
    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(f"{fullname} is kept out of measuring processes", name=fullname)


def without_pandas() -> None:
    """Make pandas appear not installed. Otherwise pyarrow imports it with the first list, which takes a second."""
    sys.meta_path.insert(0, _Absent())
