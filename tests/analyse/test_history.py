"""Does a history name the run at which an arm's level changed?"""

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from runs import finished
from synthetic import SIZES

from crossover.__main__ import main
from crossover.analyse.compare.history import TABLES, history
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
        table = pq.read_table(file)
        kept = [row["arm"] != "default" or FEW.tolist().index(row["x"]) % 2 == number for row in table.to_pylist()]
        pq.write_table(table.filter(pa.array(kept)), file)
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
