"""Does `compare` turn two result folders into tables and a summary in the terminal?"""

from pathlib import Path

import pytest
from runs import finished
from synthetic import SIZES

from crossover.__main__ import main
from crossover.analyse.tables import compare
from crossover.analyse.tables.writer import TABLES
from crossover.records import failure, record
from crossover.records.failure import Failure


@pytest.fixture
def runs(tmp_path):
    """Two runs; the second has a slower arm."""
    few = SIZES[::3]
    after = finished(tmp_path / "after", seed=2, day=2, sizes=few, slower={"no-copy": 1.3})
    return [str(finished(tmp_path / "before", seed=1, sizes=few)), str(after)]


def test_compare_writes_tables_and_prints_the_changes(runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["compare", *runs]) == 0
    folder = Path("results/comparison")
    assert {path.name for path in folder.iterdir()} == {"changes.parquet", "unpaired.parquet", "differences.parquet"}
    told = capsys.readouterr()
    assert "Of 2 curves of an arm against its reference, 1 worse and 1 the same within ±10 %." in told.out
    assert "  no-copy against copy is worse in per message, tcp;" in told.out
    assert f"reading {runs[0]} and {runs[1]}" in told.err


def broken(folder, name="medians", experiment="zmq_throughput", keep=True):
    """Mark a table of a finished run as failed, for one experiment or for all."""
    path = folder / f"{name}.parquet"
    table = record.read(path, TABLES[name])
    cause = Failure("table", name, experiment, "ValueError: a fault", "analyse/estimates/curve.py, line 9")
    record.write(table if keep else table.slice(0, 0), path, failure.stored([cause]))


def test_a_curve_that_fails_is_left_out_and_named_and_the_others_do_not_change(runs, tmp_path, monkeypatch, capsys):
    def rows(folder, code):
        assert main(["compare", *runs, "--folder", str(tmp_path / folder)]) == code
        told = record.read(tmp_path / folder / "changes.parquet", record.CHANGES).to_pylist()
        # `q` depends on the number of curves.
        return [{column: value for column, value in row.items() if column != "q"} for row in told]

    before, do = rows("whole", 0), compare._of_pair
    wrong = "no-copy"
    monkeypatch.setattr(compare, "_of_pair", lambda of, *told: 1 / 0 if of.facts["arm"] == wrong else do(of, *told))
    capsys.readouterr()
    after = rows("failed", 1)
    assert after == [row for row in before if row["arm"] != wrong] != before
    said = capsys.readouterr().err
    assert (
        "curve no-copy, per message, tcp (node) of zmq_throughput: ZeroDivisionError: division by zero (analyse/"
        in said
    )


def test_a_failed_table_of_a_run_is_named_with_its_folder(runs, tmp_path, capsys):
    broken(Path(runs[1]))
    assert main(["compare", *runs, "--folder", str(tmp_path / "folder")]) == 1
    assert (
        f"table medians of zmq_throughput in {runs[1]}: ValueError: a fault (analyse/estimates/curve.py, line 9)"
        in capsys.readouterr().err
    )
    broken(Path(runs[1]), keep=False)
    assert main(["compare", *runs, "--folder", str(tmp_path / "folder")]) == 1
    said = capsys.readouterr().err
    assert (
        "the table medians of zmq_throughput failed (ValueError: a fault), so there is nothing to compare; repeat"
        in said
    )


def test_help_explains_the_command(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["compare", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == 0 and "better, worse, the same or open" in told and "measures nothing" in told
