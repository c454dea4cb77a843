"""Do the tables of a comparison contain the changes between two runs, and list the parts without a comparison?"""

import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest
from runs import ARMS, finished
from synthetic import SIZES, launched, rows

from crossover.__main__ import main
from crossover.analyse.tables.compare import TABLES, compare
from crossover.analyse.tables.raw_files import gather


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    return finished(tmp_path_factory.mktemp("runs") / "before", seed=1)


@pytest.fixture
def told(tmp_path, before):
    """The tables of a comparison of `before`, or another run, with a run: rows by table name."""

    def of(after, within=0.1, before=before):
        compare(before, after, tmp_path / "comparison", within)
        return {name: pq.read_table(tmp_path / "comparison" / f"{name}.parquet").to_pylist() for name in TABLES}

    return of


@pytest.fixture
def later(tmp_path):
    """Writes another run, of the next day."""
    return lambda name="after", **told: finished(tmp_path / name, **{"seed": 2, "day": 2} | told)


def wholes(found, **where):
    """The rows on whole curves."""
    return only(found["changes"], x=None, **where)


def cells(found, **where):
    return [row for row in only(found["changes"], **where) if row["x"] is not None]


def only(found, **where):
    return [row for row in found if all(row[key] == value for key, value in where.items())]


def test_the_arm_that_was_slowed_is_worse_and_the_others_are_the_same(told, later):
    found = told(later(slower={"no-copy": 1.2}))
    ratios = {row["arm"]: row for row in wholes(found)}
    verdicts = {arm: row["verdict"] for arm, row in ratios.items()}
    assert verdicts == {"no-copy": "worse", "default": "same", "null": "same"}
    slowed = ratios["no-copy"]
    assert slowed["low"] < 1.2 < slowed["high"] and slowed["low"] > 1.15
    assert slowed["after"] / slowed["before"] == pytest.approx(slowed["change"])
    assert (slowed["launches_before"], slowed["launches_after"]) == (5, 5)
    # Only arms that compete count in the adjustment for false discoveries.
    assert slowed["q"] == pytest.approx(min(2 * slowed["p"], ratios["default"]["p"]))
    assert ratios["null"]["q"] is None
    own = cells(found, arm="no-copy")
    assert [cell["verdict"] for cell in own].count("worse") >= 11
    assert [cell["x"] for cell in own] == list(SIZES)
    assert {(cell["launches_before"], cell["launches_after"]) for cell in own} == {(5, 5)}
    assert found["unpaired"] == []


def test_a_slower_reference_changes_every_ratio_but_a_slower_machine_changes_none(told, later):
    assert {row["verdict"] for row in wholes(told(later(slower=dict.fromkeys(ARMS, 1.5))))} == {"same"}
    found = told(later("reference", seed=3, day=3, slower={"copy": 1.5}))
    assert {row["verdict"] for row in wholes(found, is_null_arm=False)} == {"better"}


def test_the_tables_have_exactly_their_schemas_and_the_same_runs_give_the_same_bytes(told, later, tmp_path):
    after, content = later(), []
    for _ in range(2):
        told(after)
        content.append({name: (tmp_path / "comparison" / f"{name}.parquet").read_bytes() for name in TABLES})
    assert content[0] == content[1]
    for name, schema in TABLES.items():
        assert pq.read_schema(tmp_path / "comparison" / f"{name}.parquet").remove_metadata() == schema


def test_one_launch_has_numbers_but_no_interval_and_decides_nothing(told, later):
    found = told(later(launches=1, slower={"no-copy": 2}))
    (row,) = wholes(found, arm="no-copy")
    assert row["change"] == pytest.approx(2, rel=0.1)
    assert (row["low"], row["high"], row["verdict"]) == (None, None, "open")
    assert {(each["launches_before"], each["launches_after"]) for each in found["changes"]} == {(5, 1)}
    assert {cell["p"] for cell in cells(found, arm="no-copy")} == {1}
    assert np.isfinite([cell["change"] for cell in found["changes"]]).all()


def measured_alone(folder, experiment, **options):
    finished(folder / "experiments" / experiment, experiment=experiment, **options)


def compared(capsys, *words):
    """What the command prints of two runs, or its refusal."""
    try:
        code = main(["compare", *map(str, words)])
    except SystemExit as ended:
        code = ended.code
    printed = capsys.readouterr()
    return printed.err.strip().splitlines()[-1] if code else printed.out.strip()


def test_what_the_command_prints_and_why_parts_have_no_comparison(tmp_path, before, later, capsys, snapshot):
    alone = tmp_path / "alone"
    measured_alone(alone, "zmq_throughput", seed=2, day=2, slower={"no-copy": 1.2}, pyzmq="27.3")
    measured_alone(alone, "zmq_latency", seed=3, day=3, pyzmq="28.0", budget=99)
    facts = {"pyzmq": "27.3", "budget": 20, "rank": {"variables": '{"UCX_TLS": "tcp"}'}}
    hole = launched(tmp_path / "holes", [], hole="timeout", reason="out of time")
    other = rows({"a": [[1e-6] * 10], "b": [[1e-6] * 10]}, experiment="other", sizes=[1])
    for name, receipts in {
        "holes": [hole],
        "some holes": [launched(tmp_path / "holes", other, experiment="other"), hole],
    }.items():
        gather(receipts, tmp_path / name)
    version = shutil.copytree(before, tmp_path / "version")
    table = pq.read_table(version / "launches.parquet")
    pq.write_table(table.replace_schema_metadata({"crossover": "99"}), version / "launches.parquet")
    (tmp_path / "empty").mkdir()
    runs = {
        "slower": later("slower", slower={"no-copy": 1.3}, **facts),
        "fewer": later("fewer", arms=("copy", "no-copy", "null"), sizes=SIZES[2:]),
        "failed": later("failed", launches=3, slower={"copy": np.nan}),
        "alone": alone,
        "reference": later("reference", arms=("no-copy", "copy", "null")),
        "protocol": later("protocol", protocol="ipc"),
        "experiment": later("experiment", experiment="zmq_latency"),
        **{name: tmp_path / name for name in ("holes", "some holes", "version", "empty", "nowhere")},
        "copy": shutil.copytree(before, tmp_path / "copy"),
        "same": before,
    }
    printed = []
    for name, run in runs.items():
        folder = tmp_path / f"comparison of {name}"
        printed.append(f"# {name}\n{compared(capsys, before, run, '--folder', folder)}")
        if folder.exists():
            unpaired = pq.read_table(folder / "unpaired.parquet").to_pylist()
            printed += [f"{row['arm']} at {row['x']} only in {row['run']}: {row['reason']}" for row in unpaired]
            differences = pq.read_table(folder / "differences.parquet").to_pylist()
            printed += [" | ".join(row.values()) for row in differences if row["kind"] == "run"]
    printed += [compared(capsys, before, runs["slower"], "--within", share) for share in ("0", "1.5", "ten")]
    printed.append(compared(capsys, before, runs["slower"], "--within", "0.001", "--folder", tmp_path / "narrow"))
    assert "\n".join(printed).replace(str(before), "BEFORE").replace(str(tmp_path), "") == snapshot
