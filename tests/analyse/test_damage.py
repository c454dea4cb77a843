"""Is a raw file that cannot be read a hole, and nothing else changed?"""

import shutil

import pytest
from test_tables import RISING, campaign, receipts

from crossover.analyse.tables import raw_files as gathered
from crossover.analyse.tables import writer
from crossover.planning import receipt
from crossover.records import record


@pytest.fixture(scope="module")
def launches(tmp_path_factory):
    """Their receipts."""
    return receipts(tmp_path_factory.mktemp("results"), campaign(RISING))


@pytest.fixture
def copied(launches, tmp_path):
    """The receipts of copies that a test may change."""
    results = launches[0].parents[4]
    shutil.copytree(results, tmp_path, dirs_exist_ok=True)
    return [tmp_path / path.relative_to(results) for path in launches]


def truncate(content):
    return content[: len(content) // 2]


def flip_bits(content):
    return content[:60] + bytes(byte ^ 8 for byte in content[60:70]) + content[70:]


def replace_by_text(content):
    return b"no parquet"


@pytest.mark.parametrize("damage", [truncate, flip_bits, replace_by_text])
def test_a_raw_file_that_cannot_be_read_is_a_hole_and_the_rest_goes_on(copied, tmp_path, damage):
    own = receipt.read(copied[-1])
    own.raw_file.write_bytes(damage(own.raw_file.read_bytes()))
    for name, files in (("whole", copied[:-1]), ("damaged", copied)):
        gathered.gather(files, tmp_path / name)
        writer.derive(tmp_path / name)
        writer.join([tmp_path / name], tmp_path / f"{name} run")
    *others, hole = record.read(tmp_path / "damaged run/launches.parquet", record.LAUNCHES).to_pylist()
    assert others == record.read(tmp_path / "whole run/launches.parquet", record.LAUNCHES).to_pylist()
    assert {name: hole[name] for name in gathered.LAUNCH} == own.identity
    assert (hole["outcome"], hole["hole"], hole["file"]) == ("hole", "unreadable file", str(own.raw_file))
    assert hole["reason"].startswith("the file ") and "delete" not in hole["reason"]
    for name in set(writer.TABLES) - {"launches"}:
        damaged, whole = (tmp_path / f"{run} run" / f"{name}.parquet" for run in ("damaged", "whole"))
        assert damaged.read_bytes() == whole.read_bytes(), name
