"""Reads the tables of a run: those of each experiment that was measured alone since are newer than the joined ones."""

from collections.abc import Collection
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from crossover.errors import CrossoverError
from crossover.records import record

LAUNCHES = "launches"

AGAIN = "repeat the run's command, such as make report, which keeps every launch"


def newer(results: Path) -> list[Path]:
    """The folders of experiments whose tables were written after the joined ones, or without joined ones."""
    joined = results / f"{LAUNCHES}.parquet"
    since = joined.stat().st_mtime_ns if joined.exists() else 0
    tables = results.glob(f"experiments/*/{LAUNCHES}.parquet")
    return sorted(path.parent for path in tables if path.stat().st_mtime_ns > since)


def behind(results: Path) -> list[str]:
    """The experiments with launches that the run's joined tables, claims and recommendations do not have.

    Compares contents too, because a copy changes times.
    """
    return [
        folder.name for folder in newer(results) if _launches(folder, folder.name) != _launches(results, folder.name)
    ]


def read(results: Path, name: str) -> pa.Table:
    """The table `name` of a run, or of an experiment's own folder: the newest rows of each experiment.

    Raises RecordError if a file cannot be read, or there is none.
    """
    schema, joined, own = record.schemas(name)[name], results / f"{name}.parquet", _own(results, name)
    if not own and not joined.exists():
        if (results / f"{LAUNCHES}.parquet").exists():
            raise record.RecordError(joined, "is missing, unlike other tables of the run", AGAIN)
        raise record.RecordError(joined, "cannot be read, because no run has finished there", "start one: make report")
    parts = [record.read(path, schema) for path in own.values()]
    if joined.exists():
        whole = record.read(joined, schema)
        if not own:
            return whole
        parts.append(whole.filter(pc.invert(pc.is_in(whole["experiment"], pa.array(list(own))))))
    table = pa.concat_tables([part.replace_schema_metadata() for part in parts]).combine_chunks()
    return table.sort_by([("experiment", "ascending")])


def exists(results: Path, name: str) -> bool:
    """Whether a run has the table `name`, joined or of an experiment that was measured alone since."""
    return (results / f"{name}.parquet").exists() or bool(_own(results, name))


def require_joined(results: Path, experiments: Collection[str] | None = None) -> None:
    """Raise CrossoverError, with the command, if the joined tables lack launches of one of these experiments."""
    if names := [name for name in behind(results) if experiments is None or name in experiments]:
        raise CrossoverError(
            f"{results}: {', '.join(names)} was measured alone since claims and settings were decided; {AGAIN}"
        )


def _own(results: Path, name: str) -> dict[str, Path]:
    """The files of the table `name` that are newer than the joined one, by experiment."""
    files = {folder.name: folder / f"{name}.parquet" for folder in newer(results)}
    return {experiment: path for experiment, path in files.items() if path.exists()}


def _launches(folder: Path, experiment: str) -> list[dict[str, object]]:
    path = folder / f"{LAUNCHES}.parquet"
    rows = record.read(path, record.LAUNCHES).to_pylist() if path.exists() else []
    return [row for row in rows if row["experiment"] == experiment]
