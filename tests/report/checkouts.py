"""A finished run's files besides its tables, and calls of git."""

import subprocess
from pathlib import Path

import pyarrow as pa

from crossover.records import record
from crossover.share import run_files


def write_raw(results: Path, launch: dict[str, object], rows: int = 1) -> Path:
    """Write the raw file of a launch with this many empty rows, like `python -m crossover launch`."""
    path = run_files.raw_file(results, str(launch["file"]))
    table = pa.Table.from_pylist([{"x": float(row)} for row in range(rows)], record.MEASUREMENTS)
    record.write(
        table, path, {"launch": {k: v for k, v in launch.items() if k not in ("file", "receipt")}, "ranks": []}
    )
    return path


def git(*words, folder):
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()
