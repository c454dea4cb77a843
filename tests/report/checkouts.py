"""A finished run's files besides its tables, and calls of git."""

import subprocess
from pathlib import Path

import pyarrow as pa

from crossover.records import record, run_tables


def write_raw(results: Path, launch: dict[str, object]) -> Path:
    """Write the raw file of a launch with one empty row, like `python -m crossover launch`."""
    path = run_tables.raw_file(results, str(launch["file"]))
    facts = {key: value for key, value in launch.items() if key not in ("file", "receipt")}
    table = pa.Table.from_pylist([{"x": 0.0}], record.MEASUREMENTS)
    record.write(table, path, {"launch": facts, "ranks": []})
    return path


def git(*words, folder):
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()
