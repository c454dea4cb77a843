"""Is the ratio of two rivals that of the launches that measured both?"""

import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from runs import finished
from synthetic import blocks, launched, rows

from crossover.analyse.estimates.intervals import estimate
from crossover.analyse.tables.raw_files import gather
from crossover.query.estimates import _paired
from crossover.query.run import Run
from crossover.records import record, run_tables

SIZES = np.array([100.0, 1000.0, 10_000.0])
NUMBERS = ["ratio", "low", "high"]


def rounds(run, arm):
    """The logarithms of an arm's values, by launch, point and round."""
    frame = pd.concat(record.read(path, record.MEASUREMENTS).to_pandas() for path in run.results.rglob("launch=*"))
    own = frame[frame["arm"] == arm]
    return np.log(own.pivot(index=["launch", "x"], columns="round", values="value"))


def ask(run, x, **words):
    return run.ask("zmq_throughput", x, **words).to_dict("records")


def test_the_ratio_is_the_median_over_rounds_in_each_launch_as_for_the_reference(rivals):
    of_launch = (rounds(rivals, "default") - rounds(rivals, "no-copy")).median(axis=1).unstack("x")
    expected = estimate(of_launch.to_numpy())
    for cell, x in enumerate(of_launch.columns):
        [row] = ask(rivals, x, arm="default", than="no-copy")
        told = [np.exp(getattr(expected, name)[cell]) for name in ("mean", "low", "high")]
        assert [row[name] for name in NUMBERS] == pytest.approx(told)
        assert (row["arm"], row["reference"], row["launches"]) == ("default", "no-copy", 5)


def test_with_the_reference_as_the_other_arm_the_estimates_are_those_of_the_table(rivals):
    [panel] = rivals._tables.panels("zmq_throughput")
    found = _paired(rivals.results, panel, "copy", ["no-copy", "default"])
    assert found == {(row.arm, row.x): row for row in panel.ratios if not row.is_null_arm}


def test_without_stored_blocks_each_launch_has_the_quotient_of_its_ratios(rivals, tmp_path):
    shutil.copytree(rivals.results, tmp_path, dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "raw")
    medians = run_tables.read(tmp_path, "medians").to_pandas()
    logs = np.log(medians[medians["x"] == 1000].pivot(index="launch", columns="arm", values="ratio"))
    [row] = ask(Run(tmp_path), 1000, arm="no-copy", than="default")
    assert np.log(row["ratio"]) == pytest.approx((logs["no-copy"] - logs["default"]).mean())
    assert row["low"] < row["ratio"] < row["high"] and row["launches"] == 5


def test_a_copy_of_all_blocks_by_an_earlier_release_gives_the_same_answer(rivals, tmp_path):
    shutil.copytree(rivals.results, tmp_path, dirs_exist_ok=True)
    parts = [record.read(path, record.MEASUREMENTS) for path in run_tables.raw_files(tmp_path)]
    copy = pa.concat_tables([part.replace_schema_metadata() for part in parts])
    shutil.rmtree(tmp_path / "raw")
    record.write(copy, tmp_path / "measurements.parquet")
    (tmp_path / "validities.parquet").unlink()
    asked = {"arm": "default", "than": "no-copy"}
    assert ask(Run(tmp_path), 1000, **asked) == ask(rivals, 1000, **asked)
    assert run_tables.read(tmp_path, "validities").equals(run_tables.read(rivals.results, "validities"))


# ---- launches that did not measure both


def apart(folder, *heats):
    """The results of one launch for each of these lists of rivals."""
    random, receipts = np.random.default_rng(1), []
    for number, rivals in enumerate(heats, 1):
        seconds = {arm: blocks(random, np.zeros(3), 1)[1, 0] for arm in ("copy", *rivals, "null")}
        receipts.append(launched(folder, rows(seconds, launch=number, sizes=SIZES), launch=number))
    gather(receipts, folder)
    return Run(folder)


def test_where_no_launch_measured_both_the_answer_is_a_quotient_without_interval(tmp_path):
    run = apart(tmp_path, ["no-copy"], ["default"], ["no-copy"], ["default"])
    each = {arm: ask(run, 1000, arm=arm)[0]["ratio"] for arm in ("no-copy", "default")}
    [row] = ask(run, 1000, arm="no-copy", than="default")
    assert row["ratio"] == pytest.approx(each["no-copy"] / each["default"])
    assert (row["low"], row["high"], row["launches"], row["verdict"]) == (None, None, 0, "open")
    [found] = run.answers(run.find("zmq_throughput", 1000), "no-copy", "default")
    assert found.lines[0].endswith("without interval: no launch in the tables has both arms")


@pytest.mark.parametrize(
    ("heats", "launches"),
    [([["no-copy", "default"], ["default"]] * 2 + [["no-copy"]], 2), ([["no-copy", "default"]], 1)],
)
def test_only_launches_with_both_arms_count(tmp_path, heats, launches):
    [row] = ask(apart(tmp_path, *heats), 1000, arm="no-copy", than="default")
    assert row["launches"] == launches
    assert row["low"] < row["ratio"] < row["high"] if launches > 1 else (row["low"], row["verdict"]) == (None, "open")


def test_chance_of_the_reference_does_not_widen_the_interval(tmp_path):
    """Its blocks of one launch take twice as long: both ratios to it scatter, that of the rivals does not."""
    finished(tmp_path, 5, sizes=SIZES)
    [before] = ask(Run(tmp_path), 1000, arm="no-copy", than="default")
    [raw] = tmp_path.rglob("launch=1-*")
    table = record.read(raw, record.MEASUREMENTS)
    slow = pc.if_else(pc.equal(table["arm"], "copy"), pc.multiply(table["value"], 2), table["value"])
    record.write(table.set_column(table.schema.names.index("value"), "value", slow), raw, record.metadata(table))
    gather(sorted(tmp_path.glob("launches/*/*/*/*")), tmp_path)
    run = Run(tmp_path)
    [after] = ask(run, 1000, arm="no-copy", than="default")
    assert [after[name] for name in NUMBERS] == pytest.approx([before[name] for name in NUMBERS])
    [usual] = ask(run, 1000, arm="no-copy")
    assert usual["high"] / usual["low"] > 1.3 * after["high"] / after["low"]
