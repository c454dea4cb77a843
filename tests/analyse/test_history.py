"""Does a history name the run at which an arm's level changed?"""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from runs import finished
from synthetic import SIZES

from crossover.__main__ import main
from crossover.analyse.compare.history import FEWEST, TABLES, history, starts
from crossover.records import record

FEW = SIZES[::3]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Eight runs; the last three have a slower arm and another pyzmq."""
    return [
        finished(
            tmp_path_factory.mktemp("run") / "results",
            seed=day,
            launches=3,
            day=day,
            sizes=FEW,
            slower={"no-copy": 1.15 if day > 5 else 1.0},
            pyzmq="27.3" if day > 5 else "26.0",
        )
        for day in range(1, 9)
    ]


def told(folders, to):
    history(folders, to)
    return {name: pq.read_table(to / f"{name}.parquet").to_pylist() for name in TABLES}


def test_only_the_first_run_with_the_slower_arm_begins_a_new_level(folders, tmp_path):
    found = told(folders, tmp_path)["history"]
    assert [(row["arm"], row["number"]) for row in found if row["changed"]] == [("no-copy", 6)]
    levels = {row["level"] for row in found if row["arm"] == "no-copy"}
    assert max(levels) / min(levels) == pytest.approx(1.15, rel=0.02)
    assert {row["arm"] for row in found} == {"no-copy", "default", "null"}
    assert all(row["low"] < row["ratio"] < row["high"] and row["cells"] == len(FEW) for row in found)


def test_runs_are_in_order_of_time_whatever_the_order_of_the_folders(folders, tmp_path):
    found = told(folders[::-1], tmp_path)
    own = [row for row in found["history"] if row["arm"] == "no-copy"]
    assert [row["began_utc"][:10] for row in own] == [f"2026-11-{day:02d}" for day in range(1, 9)]
    assert [row["folder"] for row in own] == list(map(str, folders))
    facts = {(row["run"], row["name"]): row["value"] for row in found["runs"]}
    assert [facts[str(number), "pyzmq"] for number in (5, 6)] == ["26.0", "27.3"]


def test_a_curve_without_a_common_point_is_left_out_and_named(folders, tmp_path, capsys):
    runs = [Path(shutil.copytree(folder, tmp_path / folder.parent.name)) for folder in folders[:2]]
    for number, run in enumerate(runs):
        file = run / "medians.parquet"
        table = record.read(file, record.MEDIANS)
        kept = [row["arm"] != "default" or FEW.tolist().index(row["x"]) % 2 == number for row in table.to_pylist()]
        record.write(table.filter(pa.array(kept)), file, record.metadata(table))
    assert main(["history", *map(str, runs), "--folder", str(tmp_path / "history")]) == 0
    (said,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("Left out"))
    assert "default" in said and "no-copy" not in said
    found = pq.read_table(tmp_path / "history" / "history.parquet").to_pylist()
    assert {row["arm"] for row in found if row["cells"]} == {"no-copy", "null"}
    (without,) = {(row["arm"], row["ratio"], row["level"]) for row in found if not row["cells"]}
    assert without == ("default", None, None)


def test_the_tables_have_exactly_their_schemas(folders, tmp_path):
    told(folders[:2], tmp_path)
    for name, schema in TABLES.items():
        assert pq.read_schema(tmp_path / f"{name}.parquet").remove_metadata() == schema


def test_a_run_without_an_arm_is_left_out_and_points_are_those_of_all_runs(folders, tmp_path):
    short = finished(tmp_path / "short", seed=20, launches=3, day=20, sizes=FEW[1:], arms=("copy", "no-copy", "null"))
    found = told([*folders[:3], short], tmp_path)["history"]
    assert [row["number"] for row in found if row["arm"] == "default"] == [1, 2, 3]
    assert {row["cells"] for row in found if row["arm"] == "no-copy"} == {len(FEW) - 1}


def test_a_copy_of_a_run_counts_once(folders, tmp_path):
    copy = shutil.copytree(folders[0], tmp_path / "copy")
    found = told([*folders[:3], copy], tmp_path)["history"]
    assert len([row for row in found if row["arm"] == "no-copy"]) == 3


@pytest.mark.parametrize(("which", "words"), [([0], "is only one run"), ([0, 0], "is only one run")])
def test_a_single_run_is_refused(folders, which, words, tmp_path, capsys):
    arguments = [str(folders[index]) for index in which]
    assert main(["history", *arguments, "--folder", str(tmp_path / "history")]) == 1
    said = capsys.readouterr().err
    assert words in said and "at least two folders of results" in said and "Traceback" not in said


def test_runs_without_a_curve_in_common_are_refused(folders, tmp_path, capsys):
    other = finished(tmp_path / "other", seed=30, launches=2, protocol="ipc", sizes=FEW)
    assert main(["history", str(folders[0]), str(other), "--folder", str(tmp_path / "history")]) == 1
    assert "no two of these runs share a curve" in capsys.readouterr().err


def test_a_run_in_another_unit_of_the_axis_is_another_quantity(folders, tmp_path):
    other = shutil.copytree(folders[0], tmp_path / "other")
    path = other / "medians.parquet"
    table = pq.read_table(path)
    column = table.schema.get_field_index("axis_unit")
    record.write(table.set_column(column, "axis_unit", pa.array(["kB"] * len(table))), path)
    found = told([other, *folders[1:3]], tmp_path / "history")["history"]
    assert {row["number"] for row in found} == {2, 3}


# ---- shifts to another level


@pytest.mark.parametrize("tails", [None, 3])
@pytest.mark.parametrize("runs", [FEWEST, 12, 20])
def test_where_nothing_changed_at_most_one_history_in_twenty_is_given_a_change(runs, tails):
    random = np.random.default_rng(runs)
    shape = (1500, runs)
    histories = random.standard_normal(shape) if tails is None else random.standard_t(tails, shape)
    # One standard error of 1,500 histories is 0.6 %.
    assert np.mean([bool(starts(values)) for values in histories]) <= 0.05 + 0.006


@pytest.mark.parametrize(("runs", "size"), [(20, 3), (10, 6)])
def test_a_change_half_way_is_found_within_a_run_of_its_place(runs, size):
    random = np.random.default_rng(1)
    found = [starts(random.standard_normal(runs) + size * (np.arange(runs) >= runs // 2)) for _ in range(200)]
    assert np.mean([len(one) == 1 and abs(one[0] - runs // 2) <= 1 for one in found]) >= 0.9


def test_two_changes_are_two():
    level = np.repeat([0.0, 1.0, 0.3], 6)
    assert starts(level + 0.02 * np.random.default_rng(2).standard_normal(18)) == [6, 12]


def test_one_run_that_went_wrong_is_no_change():
    values = 0.01 * np.random.default_rng(3).standard_normal(12)
    values[5] += 0.5
    assert starts(values) == []


def test_a_unit_does_not_matter():
    values = np.repeat([0.0, 1.0], 5) + 0.05 * np.random.default_rng(4).standard_normal(10)
    assert starts(values) == starts(1e-6 * values) == starts(values + 100) == [5]


def test_few_runs_and_runs_that_agree_to_the_last_bit_show_no_change():
    assert starts(np.repeat([0.0, 9.0], [2, 3])) == []
    assert starts(np.zeros(10)) == []
