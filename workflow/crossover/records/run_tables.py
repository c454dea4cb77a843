"""Reads the tables of a run: those of each experiment that was measured alone since are newer than the joined ones."""

from collections.abc import Collection
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from crossover.errors import CrossoverError
from crossover.records import record, validities

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
    if name == "validities" and not exists(results, name):
        # Earlier releases kept a copy of all measurements instead.
        return validities.add_up([validities.count(read(results, "measurements"))])
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


def raw_file(results: Path, file: str) -> Path:
    """The path of a launch's raw file, even if the folder of results has moved since the analysis."""
    parts = Path(file).parts
    return results.joinpath(*parts[len(parts) - 1 - parts[::-1].index("raw") :])


def raw_files(results: Path, experiment: str = "") -> list[Path]:
    """The files with the measurements of all launches in the tables, or of an experiment's: the raw files.

    One that is not there is left out. Where earlier releases kept a copy of all measurements, and none of the raw files
    is there, the copy.
    """
    launches = read(results, LAUNCHES).select(["experiment", "file"]).to_pylist()
    own = [
        row["file"]
        for row in launches
        if experiment in ("", row["experiment"]) and "raw" in Path(row["file"] or "").parts
    ]
    files = [path for path in (raw_file(results, file) for file in own) if path.is_file()]
    return files or [*results.glob("measurements.parquet")]


def _own(results: Path, name: str) -> dict[str, Path]:
    """The files of the table `name` that are newer than the joined one, by experiment."""
    files = {folder.name: folder / f"{name}.parquet" for folder in newer(results)}
    return {experiment: path for experiment, path in files.items() if path.exists()}


def _launches(folder: Path, experiment: str) -> list[dict[str, object]]:
    path = folder / f"{LAUNCHES}.parquet"
    rows = record.read(path, record.LAUNCHES).to_pylist() if path.exists() else []
    return [row for row in rows if row["experiment"] == experiment]
