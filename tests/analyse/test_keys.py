"""Do curves have keys, does the label follow from them, and can files of version 1 be read as if they had keys?"""

import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crossover.analyse.curves.raw_files import gather
from crossover.analyse.tables.writer import TABLES, derive, join
from crossover.config import schema
from crossover.design import protocol
from crossover.measure.launch.driver import find
from crossover.planning import inventory, plan
from crossover.records import record, version_1

STORED = Path(__file__).with_name("version_1.zip")
"""Raw files of the quick tier's curves, with random numbers, and their tables. The code of schema version 1 wrote
both."""

ADDED = {"ratios": {"verdict", "smallest_effect", "launches_needed"}}
REDEFINED = {"verdict", "smallest_effect", "low", "high", "resolution", "half_width", "launches_needed"}
"""Columns that later releases added, and those that they define in another way: intervals, and so crossovers."""

DERIVED = sorted(set(TABLES) - {"measurements", "launches", "ranks", "hosts"})


LATER = ("array_transfer", "async_cost", "local_transport", "mpi_collectives")
"""Experiments that no file of version 1 has."""


def every_cell(tier, without=()):
    """The cells of every launch of a tier, but for those of some experiments."""
    config = schema.complete({"tier": tier})
    for each in (one for one in plan.launches(config) if one["experiment"] not in without):
        settings = plan.of_launch(
            each["experiment"], plan.settings_of(config, each["experiment"]), each["placement"], each["launch"]
        )
        yield from find(each["experiment"]).cells(settings)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """The folder with the files of version 1."""
    folder = tmp_path_factory.mktemp("version_1")
    with zipfile.ZipFile(STORED) as packed:
        packed.extractall(folder)
    # That version had no folders of tiers.
    (folder / "raw").rename(folder / "of its tier")
    (folder / "raw").mkdir()
    (folder / "of its tier").rename(folder / "raw/quick")
    return folder


def derived(results, folder):
    """The folder of the joined tables of all raw files in `results`, which have no receipts yet."""
    assert inventory.adopt(str(results), "quick")
    for experiment in sorted((results / "launches/quick").iterdir()):
        gather(sorted(experiment.rglob("*.json")), folder / "experiments" / experiment.name)
        derive(folder / "experiments" / experiment.name)
    join(list((folder / "experiments").iterdir()), folder)
    return folder


@pytest.fixture(scope="module")
def now(stored, tmp_path_factory):
    return derived(stored, tmp_path_factory.mktemp("now"))


# ---- the label is made of the keys


@pytest.mark.parametrize("tier", schema.TIERS)
def test_keys_can_be_read_from_a_label_of_version_1(tier):
    cells = {cell.protocol: cell for cell in every_cell(tier, without=LATER)}
    assert len(cells) >= 8
    for told, cell in cells.items():
        assert version_1.keys(told) == cell.keys


@pytest.mark.parametrize("tier", schema.TIERS)
def test_curves_with_different_keys_have_different_labels(tier):
    cells = {tuple(sorted(cell.keys.items())): cell.protocol for cell in every_cell(tier)}
    assert len(set(cells.values())) == len(cells)


def test_every_key_belongs_to_a_curve():
    used = {name for tier in schema.TIERS for cell in every_cell(tier) for name in cell.keys}
    # The shipped entrants' names show their options, and tasks do not spin if engines outnumber cores.
    assert set(protocol.KEYS) - used <= {"entrant_options", "cores"}


def test_an_unknown_key_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="unknown key 'patern' of a curve; available: library_version, pattern, "):
        protocol.label({"patern": "PUSH/PULL"})


def test_an_option_of_an_entrant_goes_into_the_label_and_back():
    keys = {"work": "empty", "entrant_options": '{"a": {"packer": "msgpack", "hwm": 1}}'}
    assert protocol.label(keys) == "empty tasks, packer of a: msgpack, hwm of a: 1"
    assert version_1.keys(protocol.label(keys)) == keys


def test_a_label_that_version_1_did_not_give_has_no_keys():
    assert version_1.keys("tcp") == version_1.keys("") == {}


# ---- files of version 1


def test_raw_files_of_version_1_give_the_same_tables_except_for_the_keys(stored, now):
    for name in DERIVED:
        before = pq.read_table(stored / "tables" / f"{name}.parquet")
        after = pq.read_table(now / f"{name}.parquet")
        assert set(after.column_names) == {*before.column_names, *protocol.KEYS, *ADDED.get(name, ())}
        assert before.num_rows > 0 or name == "groups"
        for column in before.schema:
            old, new = before[column.name], after[column.name]
            if name == "crossovers" and pa.types.is_floating(column.type):
                continue
            if column.name in REDEFINED:
                assert name == "crossovers" or new.is_null().equals(old.is_null())
            elif pa.types.is_floating(column.type):
                # A sum of floats differs in its last bit from one processor to the next.
                np.testing.assert_allclose(new, old, rtol=1e-9, err_msg=f"{name}, {column.name}")
            else:
                assert new.equals(old), (name, column.name)


@pytest.mark.parametrize("experiment", ["zmq_throughput", "task_throughput"])
def test_raw_files_of_either_version_give_the_same_tables_byte_for_byte(stored, now, tmp_path, experiment):
    for path in (stored / "raw/quick" / experiment).rglob("*.parquet"):
        table = record.read(path, record.MEASUREMENTS)
        record.write(table, tmp_path / path.relative_to(stored), record.metadata(table))
    again = derived(tmp_path, tmp_path / "again") / "experiments" / experiment
    for name in DERIVED:
        before = now / "experiments" / experiment / f"{name}.parquet"
        assert (again / f"{name}.parquet").read_bytes() == before.read_bytes(), name


@pytest.mark.parametrize("name", DERIVED)
def test_every_row_of_a_derived_table_has_the_keys_of_its_label(now, name):
    for row in record.read(now / f"{name}.parquet", TABLES[name]).to_pylist():
        assert protocol.label(protocol.known(row)) == row["protocol"]
        assert protocol.known(row) == version_1.keys(row["protocol"])


@pytest.mark.parametrize("name", DERIVED)
def test_a_derived_table_of_version_1_is_read_with_keys(stored, now, name):
    before = record.read(stored / "tables" / f"{name}.parquet", TABLES[name])
    assert record.metadata(before)["crossover"] == record.VERSION
    keys = list(protocol.KEYS)
    assert before.select(keys).equals(record.read(now / f"{name}.parquet", TABLES[name]).select(keys))


def test_a_table_of_version_1_without_rows_or_without_a_label_is_read(tmp_path):
    columns = [name for name in record.CLAIMS.names if name not in protocol.KEYS]
    rows = [dict.fromkeys(columns) | {"claim": "a"}]
    for number, told in enumerate(([], rows)):
        table = pa.Table.from_pylist(told, pa.schema([record.CLAIMS.field(name) for name in columns]))
        record.write(table, tmp_path / f"{number}.parquet", {"crossover": 1})
        read = record.read(tmp_path / f"{number}.parquet", record.CLAIMS)
        assert [protocol.known(row) for row in read.to_pylist()] == [{}] * len(told)


def test_a_file_of_this_version_needs_its_keys(tmp_path):
    columns = [name for name in record.SUMMARY.names if name != "transport"]
    record.write(record.SUMMARY.empty_table().select(columns), tmp_path / "summary.parquet")
    with pytest.raises(record.RecordError, match="lacks the columns transport"):
        record.read(tmp_path / "summary.parquet", record.SUMMARY)
