"""Is the ratio of two rivals that of the launches that measured both?"""

import shutil

import numpy as np
import pytest
from campaigns import Campaign, mpi
from runs import finished
from synthetic import blocks, launched, rows

from crossover.__main__ import main
from crossover.analyse.estimates.intervals import estimate
from crossover.analyse.tables.raw_files import gather
from crossover.analyse.tables.writer import derive
from crossover.errors import CrossoverError
from crossover.query.estimates import _paired
from crossover.query.run import Run
from crossover.records import record, run_tables

SIZES = np.array([100.0, 1000.0, 10_000.0])
NUMBERS = ["ratio", "low", "high"]


def rounds(run, arm):
    """The logarithms of an arm's values, by launch, point and round."""
    frame = run_tables.read(run.results, "measurements").to_pandas()
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
    assert found == {(row["arm"], row["x"]): row for row in panel.ratios if not row["is_null_arm"]}


def test_possible_bias_is_that_of_the_references_null_arm(rivals):
    [usual] = ask(rivals, 10_000, arm="no-copy")
    [row] = ask(rivals, 10_000, arm="no-copy", than="default")
    assert row["smallest_effect"] == pytest.approx(usual["smallest_effect"]) and usual["smallest_effect"] > 1
    assert row["bias_of"] == usual["bias_of"] == "copy"
    [found] = rivals.answers("zmq_throughput", 10_000, None, "no-copy", {}, "default")
    assert " % (that of the null arm of copy): no-copy is faster" in found.lines[0]
    assert found.lines[1].startswith("measured at this point, by 5 launches: default ")


def test_the_other_direction_is_the_inverse(rivals):
    [one] = ask(rivals, 1000, arm="no-copy", than="default")
    [other] = ask(rivals, 1000, arm="default", than="no-copy")
    assert [1 / other[name] for name in ("ratio", "high", "low")] == pytest.approx([one[name] for name in NUMBERS])
    assert (one["verdict"], other["verdict"]) == ("better", "worse")


def test_than_the_reference_is_the_usual_answer_and_the_reference_than_an_arm_its_inverse(rivals):
    [usual] = ask(rivals, 1000, arm="no-copy")
    assert ask(rivals, 1000, arm="no-copy", than="copy") == [usual]
    [inverse] = ask(rivals, 1000, arm="copy", than="no-copy")
    assert [1 / inverse[name] for name in ("ratio", "high", "low")] == pytest.approx([usual[name] for name in NUMBERS])
    assert (inverse["arm"], inverse["reference"], inverse["says"]) == ("copy", "no-copy", "copy is slower")
    [found] = rivals.answers("zmq_throughput", 1000, None, "copy", {}, "no-copy")
    assert "null arm" not in found.lines[0]


def test_without_an_arm_all_others_that_compete_are_compared(rivals):
    assert [row["arm"] for row in ask(rivals, 1000, than="no-copy")] == ["default", "copy"]
    assert [row["arm"] for row in ask(rivals, 1000, than="copy")] == ["default", "no-copy"]


@pytest.mark.parametrize("arm", ["copy", "no-copy"])
def test_a_null_arm_is_no_rival(rivals, arm):
    [row] = ask(rivals, 1000, arm=arm, than="null")
    assert (row["verdict"], row["says"]) == ("open", "a null arm, not a rival")
    [row] = ask(rivals, 1000, arm="null", than="no-copy")
    assert row["says"] == "a null arm, not a rival" and row["ratio"] > 1


def test_between_two_points_the_ratio_of_two_rivals_is_interpolated(rivals):
    [row] = ask(rivals, 12_000, arm="no-copy", than="default")
    assert row["interpolated"] and row["below_x"] < 12_000 < row["above_x"]
    assert sorted([row["below_ratio"], row["above_ratio"], row["ratio"]])[1] == row["ratio"]


def test_an_unknown_arm_is_an_error_of_one_line_with_the_arms_of_the_curve(rivals):
    for words in ({"arm": "magic", "than": "no-copy"}, {"than": "magic"}):
        with pytest.raises(CrossoverError, match=r"^unknown arm 'magic'; available: copy, default, no-copy, null$"):
            ask(rivals, 1000, **words)


def test_without_stored_blocks_each_launch_has_the_quotient_of_its_ratios(rivals, tmp_path):
    shutil.copytree(rivals.results, tmp_path, dirs_exist_ok=True)
    (tmp_path / "measurements.parquet").unlink()
    medians = run_tables.read(tmp_path, "medians").to_pandas()
    logs = np.log(medians[medians["x"] == 1000].pivot(index="launch", columns="arm", values="ratio"))
    [row] = ask(Run(tmp_path), 1000, arm="no-copy", than="default")
    assert np.log(row["ratio"]) == pytest.approx((logs["no-copy"] - logs["default"]).mean())
    assert row["low"] < row["ratio"] < row["high"] and row["launches"] == 5


# ---- launches that did not measure both


def apart(folder, *heats):
    """The results of one launch for each of these lists of rivals."""
    random, receipts = np.random.default_rng(1), []
    for number, rivals in enumerate(heats, 1):
        seconds = {arm: blocks(random, np.zeros(3), 1)[1, 0] for arm in ("copy", *rivals, "null")}
        receipts.append(launched(folder, rows(seconds, launch=number, sizes=SIZES), launch=number))
    gather(receipts, folder)
    derive(folder)
    return Run(folder)


def test_where_no_launch_measured_both_the_answer_is_a_quotient_without_interval(tmp_path, capsys):
    run = apart(tmp_path, ["no-copy"], ["default"], ["no-copy"], ["default"])
    each = {arm: ask(run, 1000, arm=arm)[0]["ratio"] for arm in ("no-copy", "default")}
    [row] = ask(run, 1000, arm="no-copy", than="default")
    assert row["ratio"] == pytest.approx(each["no-copy"] / each["default"])
    assert (row["low"], row["high"], row["launches"], row["verdict"]) == (None, None, 0, "open")
    words = ["--at", "1000", "--arm", "no-copy", "--than", "default", "--results", str(tmp_path)]
    assert main(["ask", "zmq_throughput", *words]) == 0
    head, place = capsys.readouterr().out.splitlines()
    assert head.endswith(
        " times, the quotient of the two ratios to copy, without interval: no launch in the tables has both arms"
    )
    assert place.startswith("measured at this point: default ")


def test_without_any_table_of_launches_the_answer_is_a_quotient_too(tmp_path):
    run = Run(Campaign([mpi(), mpi(arm="pkl5.send", centre=1e6)]).write_tables(tmp_path))
    [row] = run.ask("mpi_pingpong", 1, arm="Send", than="pkl5.send").to_dict("records")
    each = {arm: run.ask("mpi_pingpong", 1, arm=arm)["ratio"][0] for arm in ("Send", "pkl5.send")}
    assert row["ratio"] == pytest.approx(each["Send"] / each["pkl5.send"]) and row["low"] is None


def test_arms_without_a_common_point_are_an_error(tmp_path):
    run = Run(Campaign([mpi(points=[1.0, 10]), mpi(arm="pkl5.send", points=[100.0, 1000])]).write_tables(tmp_path))
    with pytest.raises(CrossoverError, match=r"^Send, pkl5\.send have no measured point in common; choose another arm"):
        run.ask("mpi_pingpong", 10, arm="Send", than="pkl5.send")


def test_only_launches_with_both_arms_count(tmp_path):
    run = apart(tmp_path, ["no-copy", "default"], ["default"], ["no-copy", "default"], ["no-copy"])
    [row] = ask(run, 1000, arm="no-copy", than="default")
    assert row["launches"] == 2 and row["low"] < row["ratio"] < row["high"]


def test_one_launch_with_both_arms_has_no_interval(tmp_path):
    run = apart(tmp_path, ["no-copy", "default"])
    [row] = ask(run, 1000, arm="no-copy", than="default")
    assert (row["low"], row["launches"], row["verdict"]) == (None, 1, "open")


def test_chance_of_the_reference_does_not_widen_the_interval(tmp_path):
    """Its blocks of one launch take twice as long: both ratios to it scatter, that of the rivals does not."""
    finished(tmp_path, 5, sizes=SIZES)
    [before] = ask(Run(tmp_path), 1000, arm="no-copy", than="default")
    measured = run_tables.read(tmp_path, "measurements").to_pylist()
    slow = [{"value": 2 * row["value"]} if (row["arm"], row["launch"]) == ("copy", 1) else {} for row in measured]
    changed = record.from_rows([row | own for row, own in zip(measured, slow, strict=True)], record.MEASUREMENTS)
    record.write(changed, tmp_path / "measurements.parquet")
    derive(tmp_path)
    run = Run(tmp_path)
    [after] = ask(run, 1000, arm="no-copy", than="default")
    assert [after[name] for name in NUMBERS] == pytest.approx([before[name] for name in NUMBERS])
    [usual] = ask(run, 1000, arm="no-copy")
    assert usual["high"] / usual["low"] > 1.3 * after["high"] / after["low"]
