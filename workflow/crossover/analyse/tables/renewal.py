"""Brings the tables of a run of an earlier release up to date, from its medians."""

from pathlib import Path

from crossover.analyse.curves.curve import curves
from crossover.analyse.tables.writer import FROM_CURVES, TABLES, write
from crossover.records import record, run_tables


def renew(results: Path) -> bool:
    """Estimate again what an earlier release estimated differently; returns whether it was necessary.

    Raises RecordError for a table that cannot be read.
    """
    if run_tables.is_decided(record.read(results / "ratios.parquet", TABLES["ratios"])):
        return False
    every = list(curves(record.read(results / "medians.parquet", TABLES["medians"]).to_pandas()))
    for name, rows in FROM_CURVES.items():
        write(rows(every), name, results)
    return True
