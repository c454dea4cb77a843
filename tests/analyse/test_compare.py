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
from crossover.analyse.tables.writer import derive


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


def test_the_user_chooses_the_bound_for_the_same(told, later):
    after = later(slower={"no-copy": 1.04})
    (wide,) = wholes(told(after, within=0.1), arm="no-copy")
    (narrow,) = wholes(told(after, within=0.001), arm="default")
    assert wide["equivalent"] and wide["within"] == pytest.approx(1.1)
    assert not narrow["equivalent"] and narrow["verdict"] == "open"


def test_the_tables_have_exactly_their_schemas_and_the_same_runs_give_the_same_bytes(told, later, tmp_path):
    after, content = later(), []
    for _ in range(2):
        told(after)
        content.append({name: (tmp_path / "comparison" / f"{name}.parquet").read_bytes() for name in TABLES})
    assert content[0] == content[1]
    for name, schema in TABLES.items():
        assert pq.read_schema(tmp_path / "comparison" / f"{name}.parquet").remove_metadata() == schema


def test_only_facts_that_differ_are_listed(told, before, later):
    after = later(pyzmq="27.3", budget=20, rank={"variables": '{"UCX_TLS": "tcp"}'})
    assert [tuple(row.values()) for row in told(after)["differences"]] == [
        ("run", "days", "2026-11-01", "2026-11-02"),
        ("run", "folder", str(before), str(after)),
        ("machine", "UCX_TLS", "", "tcp"),
        ("library", "pyzmq", "26.0", "27.3"),
        ("setting", "zmq_throughput, node: budget_seconds", "10", "20"),
    ]


def measured_alone(folder, experiment="zmq_throughput", **options):
    finished(folder / "experiments" / experiment, experiment=experiment, **options)
    assert not list(folder.glob("*.parquet"))
    return folder


def test_two_runs_of_a_single_experiment_can_be_compared(told, tmp_path):
    one = measured_alone(tmp_path / "one", seed=1)
    two = measured_alone(tmp_path / "two", seed=2, day=2, slower={"no-copy": 1.2}, pyzmq="27.3")
    found = told(two, before=one)
    assert [row["arm"] for row in wholes(found, verdict="worse")] == ["no-copy"]
    assert [row["before"] for row in only(found["differences"], name="pyzmq")] == ["26.0"]


def test_an_experiment_of_one_run_alone_has_its_reason_and_gives_no_differences(told, tmp_path):
    both = measured_alone(tmp_path / "after", seed=2, day=2)
    measured_alone(tmp_path / "other", "zmq_latency", seed=3, day=3, pyzmq="27.3", budget=99)
    shutil.move(tmp_path / "other/experiments/zmq_latency", both / "experiments")
    found = told(both)
    (reason,) = {row["reason"] for row in found["unpaired"]}
    assert reason.startswith("in before, `zmq_latency` has no launch in this run")
    assert {row["kind"] for row in found["differences"]} == {"run"}
    assert {row["after"] for row in only(found["differences"], name="days")} == {"2026-11-02"}


def test_arms_and_points_that_only_one_run_has_are_named(told, later):
    found = told(later(arms=("copy", "no-copy", "null"), sizes=SIZES[2:]))
    whole = [(row["arm"], row["run"], row["reason"]) for row in only(found["unpaired"], x=None)]
    assert whole == [("default", "before", "after did not measure this arm")]
    points = only(found["unpaired"], arm="no-copy")
    assert [(row["x"], row["run"]) for row in points] == [(SIZES[0], "before"), (SIZES[1], "before")]
    assert len(cells(found, arm="no-copy")) == len(SIZES) - 2


def test_another_reference_is_another_quantity(told, later):
    with pytest.raises(Exception, match="its reference is copy in before and no-copy in after"):
        told(later(arms=("no-copy", "copy", "null")))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"protocol": "ipc"}, "after did not measure this metric under this protocol"),
        ({"experiment": "zmq_latency"}, "in after, `zmq_throughput` has no launch in this run"),
        (None, "in after, all its launches are holes, the first because of `timeout: out of time`"),
    ],
)
def test_parts_of_only_one_run_and_holes_have_different_reasons(told, later, tmp_path, change, reason):
    after = holes(tmp_path / "after") if change is None else later(**change)
    with pytest.raises(Exception, match=f"no arm can be compared.*{reason}"):
        told(after)


def holes(folder):
    """A run in which one experiment has data and another left only holes."""
    measured = rows({"a": [[1e-6] * 10], "b": [[1e-6] * 10]}, experiment="other", sizes=[1])
    hole = launched(folder, [], hole="timeout", reason="out of time")
    gather([launched(folder, measured, experiment="other"), hole], folder)
    derive(folder)
    return folder


def test_two_runs_with_the_same_launches_are_refused(told, tmp_path, before):
    with pytest.raises(Exception, match="both runs contain the same launches of this experiment"):
        told(shutil.copytree(before, tmp_path / "copy"))


def refused(capsys, *arguments):
    """The message of a refusal."""
    assert main(["compare", *map(str, arguments)]) == 1
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said


def test_folders_without_a_run_are_named_with_the_next_step(tmp_path, before, capsys):
    nowhere, empty = tmp_path / "nowhere", tmp_path / "empty"
    empty.mkdir()
    to = ("--folder", tmp_path / "comparison")
    said = refused(capsys, before, nowhere, *to)
    assert f"{nowhere}: does not exist; name the folder of results" in said
    said = refused(capsys, empty, before, *to)
    assert f"{empty / 'launches.parquet'}: cannot be read, because no run has finished there" in said
    assert "was given for both runs; name two folders" in refused(capsys, before, before, *to)
    assert not (tmp_path / "comparison").exists()


def test_another_version_of_the_schemas_is_refused(tmp_path, before, capsys):
    after = shutil.copytree(before, tmp_path / "after")
    table = pq.read_table(after / "launches.parquet")
    pq.write_table(table.replace_schema_metadata({"crossover": "99"}), after / "launches.parquet")
    said = refused(capsys, before, after, "--folder", tmp_path / "comparison")
    assert f"{after / 'launches.parquet'}: has schema version 99, this code reads 2" in said


def test_a_run_with_only_holes_has_nothing_to_compare(tmp_path, before, capsys):
    folder = tmp_path / "holes"
    gather([launched(folder, [], hole="timeout", reason="out of time")], folder)
    derive(folder)
    assert "no launch has data" in refused(capsys, before, folder, "--folder", tmp_path / "comparison")


@pytest.mark.parametrize("within", ["0", "1.5", "ten"])
def test_impossible_bounds_are_refused(before, within, capsys):
    with pytest.raises(SystemExit):
        main(["compare", str(before), str(before), "--within", within])
    assert "is not between 0 and 1; write 0.1 for 10 %" in capsys.readouterr().err


def test_one_launch_has_numbers_but_no_interval_and_decides_nothing(told, later):
    found = told(later(launches=1, slower={"no-copy": 2}))
    (row,) = wholes(found, arm="no-copy")
    assert row["change"] == pytest.approx(2, rel=0.1)
    assert (row["low"], row["high"], row["verdict"]) == (None, None, "open")
    assert {(each["launches_before"], each["launches_after"]) for each in found["changes"]} == {(5, 1)}
    assert {cell["p"] for cell in cells(found, arm="no-copy")} == {1}
    assert np.isfinite([cell["change"] for cell in found["changes"]]).all()


def test_an_arm_whose_reference_failed_in_one_run_has_no_change(told, later):
    found = told(later(launches=3, slower={"copy": np.nan}))
    assert {(row["change"], row["verdict"]) for row in wholes(found)} == {(None, "open")}
    assert only(found["unpaired"], arm="copy")[0]["reason"] == "after did not measure this arm"
