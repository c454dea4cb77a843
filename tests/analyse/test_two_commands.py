"""Do `compare` and `history` turn result folders into a page and a summary in the terminal?"""

import sys
from pathlib import Path

import pytest
from runs import finished
from synthetic import SIZES

from crossover.__main__ import main
from crossover.analyse.compare import compare, history
from crossover.analyse.curves.curve import NAMES, Curve
from crossover.analyse.tables.writer import TABLES
from crossover.records import failure, record
from crossover.records.failure import Failure
from crossover.report.pages import changes
from crossover.report.pages.changes import ComparisonPage

QUARTO = """#!{python}
import pathlib, shutil
pathlib.Path("_site").mkdir()
shutil.copy("index.qmd", "_site/index.html")
"""


@pytest.fixture(autouse=True)
def quarto(tmp_path, monkeypatch):
    """A `quarto` that copies its page unchanged, because other tests cover rendering."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "quarto").write_text(QUARTO.format(python=sys.executable))
    (folder / "quarto").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


@pytest.fixture
def runs(tmp_path):
    """Two runs; the second has a slower arm."""
    few = SIZES[::3]
    after = finished(tmp_path / "after", seed=2, day=2, sizes=few, slower={"no-copy": 1.3})
    return [str(finished(tmp_path / "before", seed=1, sizes=few)), str(after)]


def test_compare_writes_tables_charts_and_a_page_and_prints_the_changes(runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["compare", *runs]) == 0
    folder = Path("results/comparison")
    assert "page = ComparisonPage()" in (folder / "index.html").read_text()
    tables = {"changes", "curve_changes", "unpaired", "runs"}
    assert {path.stem for path in folder.glob("*.parquet")} == tables
    assert len(list((folder / "figures").glob("*.svg"))) == 2
    told = capsys.readouterr()
    assert "Of 2 curves of an arm against its reference, 1 worse and 1 the same within ±10 %." in told.out
    assert "  no-copy against copy is worse in per message, tcp;" in told.out and "index.html" in told.out
    assert f"reading {runs[0]} and {runs[1]}" in told.err


def test_history_writes_tables_charts_and_a_page_and_prints_the_changes(runs, tmp_path, capsys):
    folder = tmp_path / "course"
    assert main(["history", *runs, "--folder", str(folder)]) == 0
    assert "page = HistoryPage()" in (folder / "index.html").read_text()
    assert {path.stem for path in folder.glob("*.parquet")} == {"history", "runs"}
    assert "0 of 2 curves of an arm against its reference shifted within" in capsys.readouterr().out


def broken(folder, name="medians", experiment="zmq_throughput", keep=True):
    """Mark a table of a finished run as failed, for one experiment or for all."""
    path = folder / f"{name}.parquet"
    table = record.read(path, TABLES[name])
    cause = Failure("table", name, experiment, "ValueError: a fault", "analyse/curves/rounds.py, line 9")
    record.write(table if keep else table.slice(0, 0), path, failure.stored([cause]))


@pytest.mark.parametrize("command", ["compare", "history"])
def test_a_curve_that_fails_is_left_out_and_named_and_the_others_do_not_change(
    runs, tmp_path, monkeypatch, capsys, command
):
    module, step = {"compare": (compare, "_of_pair"), "history": (history, "_course")}[command]
    name = {"compare": "curve_changes", "history": "history"}[command]

    def rows(folder, code):
        assert main([command, *runs, "--folder", str(tmp_path / folder)]) == code
        schema = compare.TABLES.get(name) or history.TABLES[name]
        told = record.read(tmp_path / folder / f"{name}.parquet", schema).to_pylist()
        # `q` depends on the number of curves.
        return [{column: value for column, value in row.items() if column != "q"} for row in told]

    before, do = rows("whole", 0), getattr(module, step)
    wrong = "no-copy"
    monkeypatch.setattr(module, step, lambda of, *told: 1 / 0 if _arm(of) == wrong else do(of, *told))
    capsys.readouterr()
    after = rows("failed", 1)
    assert after == [row for row in before if row["arm"] != wrong] != before
    said = capsys.readouterr().err
    assert (
        "curve no-copy, per message, tcp (node) of zmq_throughput: ZeroDivisionError: division by zero (analyse/"
        in said
    )


def _arm(of):
    return of.facts["arm"] if isinstance(of, Curve) else dict(zip(NAMES, of, strict=True))["arm"]


@pytest.mark.parametrize("command", ["compare", "history"])
def test_a_failed_table_of_a_run_is_named_with_its_folder(runs, tmp_path, capsys, command):
    broken(Path(runs[1]))
    assert main([command, *runs, "--folder", str(tmp_path / "folder")]) == 1
    assert (
        f"table medians of zmq_throughput in {runs[1]}: ValueError: a fault (analyse/curves/rounds.py, line 9)"
        in capsys.readouterr().err
    )
    broken(Path(runs[1]), keep=False)
    assert main([command, *runs, "--folder", str(tmp_path / "folder")]) == 1
    said = capsys.readouterr().err
    assert (
        "the table medians of zmq_throughput failed (ValueError: a fault), so there is nothing to compare; repeat"
        in said
    )


def test_a_figure_of_a_comparison_that_fails_is_left_out_and_named(runs, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(changes, "along", lambda *_: 1 / 0)
    assert main(["compare", *runs, "--folder", str(tmp_path / "folder")]) == 1
    assert len(list((tmp_path / "folder/figures").glob("*.vl.json"))) == 1
    assert "-along: ZeroDivisionError: division by zero" in capsys.readouterr().err
    page = ComparisonPage(tmp_path / "folder")
    assert "This figure could not be drawn: ZeroDivisionError" in page.experiments().data
    assert "ZeroDivisionError" in page.failed().data


def test_help_explains_the_commands(capsys):
    for command, words in (
        ("compare", "better, worse, the same or open"),
        ("history", "Orders the runs by time"),
    ):
        with pytest.raises(SystemExit) as ended:
            main([command, "--help"])
        told = " ".join(capsys.readouterr().out.split())
        assert ended.value.code == 0 and words in told and "measures nothing" in told
