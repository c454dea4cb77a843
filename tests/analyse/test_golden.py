"""Do the tables of a stored run stay as they are? A change that is meant is stored again: see `store`.

The example of the docs is a real run at tier quick (two cores, other work beside it: its numbers mean nothing), with
receipts, raw files, the tables that were derived from them, and charts.
"""

import math
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from crossover.__main__ import main
from crossover.analyse.tables.raw_files import gather
from crossover.analyse.tables.writer import TABLES, join
from crossover.paths import PROJECT
from crossover.records import run_tables

STORED = PROJECT / "docs" / "example.zip"
DECIDED = [*TABLES, "claims", "recommendations"]


def analysed(results: Path) -> Path:
    """The same folder with its tables, claims and recommendations."""
    for experiment in sorted((results / "launches/quick").iterdir()):
        folder = results / "experiments" / experiment.name
        gather(sorted(experiment.rglob("*.json")), folder)
    join(list((results / "experiments").iterdir()), results)
    assert main(["claims", str(results), "--claims", str(PROJECT / "config/claims.yaml")]) == 0
    assert main(["recommend", str(results)]) == 0
    return results


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden")
    with zipfile.ZipFile(STORED) as packed:
        packed.extractall(folder)
    before = shutil.copytree(folder / "results", folder / "before")
    return analysed(folder / "results"), before


@pytest.mark.parametrize("name", DECIDED)
def test_a_table_of_a_stored_run_is_as_it_was(run, name):
    results, before = run
    old, new = (run_tables.read(folder, name) for folder in (before, results))
    assert old.num_rows == new.num_rows > 0 or name == "pairs"
    for column in new.schema:
        if column.name in ("file", "receipt"):
            continue
        for before, after in zip(old[column.name].to_pylist(), new[column.name].to_pylist(), strict=True):
            assert alike(before, after), (column.name, before, after)


def alike(before, after) -> bool:
    """Whether two values are equal but for the last bits of floats, in which processors differ."""
    if isinstance(before, list | tuple) and isinstance(after, list | tuple):
        return len(before) == len(after) and all(map(alike, before, after))
    if isinstance(before, dict) and isinstance(after, dict):
        return alike(sorted(before.items()), sorted(after.items()))
    if isinstance(before, float) and isinstance(after, float):
        return math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-15)
    return type(before) is type(after) and before == after


def store(results: Path) -> None:
    """Store this run: `python tests/analyse/test_golden.py results`."""
    analysed(results)
    for folder in (results / "experiments").iterdir():
        assert main(["figures", str(folder), "--folder", str(results / "figures" / folder.name)]) == 0
    assert main(["ladder", str(results), "--folder", str(results / "figures/ladder")]) == 0
    with zipfile.ZipFile(STORED, "w", zipfile.ZIP_DEFLATED) as packed:
        for pattern in ("launches/quick/**/*.json", "raw/quick/**/*.parquet", "*.parquet", "*.toml", "figures/*/*"):
            for path in sorted(results.glob(pattern)):
                packed.write(path, Path("results") / path.relative_to(results))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        store(Path(shutil.copytree(sys.argv[1], Path(folder) / "results")))
