"""Checks that a report exists and is up to date with its results.

The check compares contents, because a copy or a clone changes times: the page lists its tables and figures, and the
tables list their launches. Only for a raw file that no table lists does the time matter: it is either a newer launch,
or left over from a run with another configuration.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from crossover.errors import CrossoverError
from crossover.records import record
from crossover.report.render import origin

PAGE = "report/index.html"
MOST_NAMED = 5
"""The most files that a message lists."""


def require(results: Path) -> dict[str, Any]:
    """The report's origin, as `origin.of` gives it. Raises CrossoverError if the report is missing or out of date."""
    page = results / PAGE
    recorded, now = origin.read(page), origin.of(results)
    if recorded["crossover"] != record.VERSION:
        raise CrossoverError(
            f"{page}: has schema version {recorded['crossover']}, this code writes {record.VERSION}; run: make report"
        )
    was, present = recorded["made_from"], now["made_from"]
    if changed := sorted(name for name in was | present if was.get(name) != present.get(name)):
        raise CrossoverError(_sentence(page, [str(results / name) for name in changed], results))
    if newer := list(_newer(results)):
        raise CrossoverError(_sentence(results / "launches.parquet", newer, results))
    return recorded


def launches(results: Path) -> list[dict[str, Any]]:
    """The rows of the launches in the tables."""
    rows: list[dict[str, Any]] = record.read(results / "launches.parquet", record.LAUNCHES).to_pylist()
    return rows


def raw_file(results: Path, launch: dict[str, Any]) -> Path:
    """The path of a launch's raw file, even if the folder of results has moved since the analysis."""
    parts = Path(launch["file"]).parts
    return results.joinpath(*parts[len(parts) - 1 - parts[::-1].index("raw") :])


def _newer(results: Path) -> Iterator[str]:
    """The raw files that are missing in the tables, or have changed since."""
    known = {raw_file(results, row): row["started_utc"] for row in launches(results)}
    joined = (results / "launches.parquet").stat().st_mtime_ns
    # Launches of other tiers are in the same folder, but not part of this report.
    tiers = {path.parents[2] for path in known}
    for path in sorted(found for tier in tiers for found in tier.glob("*/*/launch=*.parquet")):
        if path in known:
            if _started(path) != known[path]:
                yield str(path)
        elif path.stat().st_mtime_ns > joined:
            yield str(path)


def _started(path: Path) -> Any:
    """The start of a launch; None, as in the tables, if its file cannot be read."""
    try:
        return json.loads(pq.read_schema(path).metadata[b"launch"]).get("started_utc")
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
        return None


def _sentence(older: Path, newer: list[str], results: Path) -> str:
    named = ", ".join(newer[:MOST_NAMED]) + (f" and {len(newer) - MOST_NAMED} more" if len(newer) > MOST_NAMED else "")
    again = "make report" if results == Path("results") else "the command that made it"
    return f"{older}: is older than {named}; repeat {again} (it keeps measured launches), then this command"
