"""Do answers come from the newest tables of each experiment?"""

import os

import pytest

from crossover.errors import CrossoverError
from crossover.query.run import Run
from crossover.records import record, run_tables
from crossover.report.text import tables


def write(folder, launches, ratio, when):
    """Tables of these launches {experiment: number}, with one ratio each; `when` is a time of the files."""
    facts = {"placement": "node", "protocol": "tcp", "metric": "throughput", "arm": "no-copy", "reference": "copy"}
    facts |= {"is_null_arm": False, "ceiling": False, "verdict": "open", "x": 1.0, "ratio": ratio, "axis_unit": "bytes"}
    launch = {"placement": "node", "outcome": "measured"}
    rows = {
        "launches": [
            launch | {"experiment": name, "launch": number, "file": f"{name}{number}"}
            for name, count in launches.items()
            for number in range(1, count + 1)
        ],
        "ratios": [facts | {"experiment": name} for name in launches],
    }
    for name, schema in record.schemas(
        "launches ratios summary crossovers thresholds choices claims recommendations"
    ).items():
        path = folder / f"{name}.parquet"
        record.write(record.from_rows(rows.get(name, []), schema), path)
        os.utime(path, (when, when))


@pytest.fixture
def run(tmp_path):
    """A whole run of two experiments; then one of them was measured alone."""
    write(tmp_path, {"a": 3, "b": 3}, 1.0, when=1000)
    write(tmp_path / "experiments/a", {"a": 5}, 2.0, when=2000)
    write(tmp_path / "experiments/b", {"b": 3}, 3.0, when=900)
    return tmp_path


def ratios(folder):
    return {row["experiment"]: row["ratio"] for row in run_tables.read(folder, "ratios").to_pylist()}


def test_an_experiment_that_was_measured_alone_has_its_new_tables(run):
    assert ratios(run) == {"a": 2.0, "b": 1.0}
    assert run_tables.behind(run) == ["a"]


def test_claims_and_settings_of_an_older_run_are_left_out_or_refused(run):
    found = tables.load(run, ["launches", "ratios", "claims", "recommendations"])
    assert (found.behind, *found.claims, *found.recommendations) == (["a"],)
    with pytest.raises(
        CrossoverError, match=r"a was measured alone since .* repeat the run's command, such as make report"
    ):
        run_tables.require_joined(run)
    with pytest.raises(CrossoverError, match="measured alone"):
        Run(run).settings()


def test_a_copy_of_the_same_launches_is_not_behind(run):
    write(run / "experiments/a", {"a": 3}, 1.0, when=5000)
    assert run_tables.behind(run) == []
    run_tables.require_joined(run)


def test_an_experiment_that_was_measured_first_of_all_is_known(tmp_path):
    write(tmp_path / "experiments/a", {"a": 2}, 2.0, when=1000)
    assert ratios(tmp_path) == {"a": 2.0}
    assert tables.load(tmp_path, ["launches", "ratios"]).experiments == ["a"]
    Run(tmp_path)


def test_before_a_first_run_the_command_is_named(tmp_path):
    for ask in (Run, lambda folder: tables.load(folder)):
        with pytest.raises(CrossoverError, match="start one: make report"):
            ask(tmp_path)
