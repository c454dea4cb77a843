"""Do curves have keys, and does the label follow from them?"""

import label_keys
import pytest

from crossover.config import schema
from crossover.design import protocol
from crossover.design.settings import TIERS
from crossover.measure.launch.driver import find
from crossover.planning import plan
from crossover.records import record

READ = ("zmq_", "mpi_pingpong", "task_")
"""The beginnings of the names of experiments whose labels `label_keys` reads."""


def every_cell(tier, of=("",)):
    """The cells of every launch of a tier, of the experiments whose names begin like one `of` these."""
    config = schema.complete({"tier": tier, "own": "docs/examples/count_primes.py"})
    for launch in plan.launches(config):
        if launch.experiment.startswith(of):
            yield from find(launch.experiment).cells(launch.settings)


@pytest.mark.parametrize("tier", TIERS)
def test_keys_can_be_read_from_a_label(tier):
    cells = {cell.protocol: cell for cell in every_cell(tier, of=READ)}
    assert len(cells) >= 8
    for told, cell in cells.items():
        assert label_keys.keys(told) == cell.keys


@pytest.mark.parametrize("tier", TIERS)
def test_curves_with_different_keys_have_different_labels(tier):
    cells = {tuple(sorted(cell.keys.items())): cell.protocol for cell in every_cell(tier)}
    assert len(set(cells.values())) == len(cells)


def test_every_key_belongs_to_a_curve():
    used = {name for tier in TIERS for cell in every_cell(tier) for name in cell.keys}
    # The shipped entrants' names show their options, tasks do not spin if engines outnumber cores, and only some files
    # of users have an argument that tasks share.
    assert set(protocol.KEYS) - used <= {"entrant_options", "cores", "shared"}


def test_an_unknown_key_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="unknown key 'patern' of a curve; available: library_version, pattern, "):
        protocol.label({"patern": "PUSH/PULL"})


def test_a_key_that_a_file_does_not_have_yet_is_null(tmp_path):
    row = dict.fromkeys(record.SUMMARY.names) | {"pattern": "PUSH/PULL", "x": 1.0}
    columns = [name for name in record.SUMMARY.names if name != "transport"]
    record.write(record.from_rows([row], record.SUMMARY).select(columns), tmp_path / "summary.parquet")
    (found,) = record.read(tmp_path / "summary.parquet", record.SUMMARY).to_pylist()
    assert found == row
