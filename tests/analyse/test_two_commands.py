"""Do `compare` and `history` go all the way from folders of results to a page and a few words in the terminal?"""

import sys
from pathlib import Path

import pytest
from runs import finished
from synthetic import SIZES

from crossover.__main__ import main

QUARTO = """#!{python}
import pathlib, shutil
pathlib.Path("_site").mkdir()
shutil.copy("index.qmd", "_site/index.html")
"""


@pytest.fixture(autouse=True)
def quarto(tmp_path, monkeypatch):
    """A `quarto` that renders the page that it finds as the index into itself: rendering is tested elsewhere."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "quarto").write_text(QUARTO.format(python=sys.executable))
    (folder / "quarto").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


@pytest.fixture
def runs(tmp_path):
    """Two runs, of which the second has a slower arm."""
    few = SIZES[::3]
    after = finished(tmp_path / "after", seed=2, day=2, sizes=few, slower={"no-copy": 1.3})
    return [str(finished(tmp_path / "before", seed=1, sizes=few)), str(after)]


def test_comparing_leaves_tables_charts_and_its_own_page_and_says_what_changed(runs, tmp_path, monkeypatch, capsys):
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


def test_a_history_leaves_tables_charts_and_its_own_page_and_says_what_changed(runs, tmp_path, capsys):
    folder = tmp_path / "course"
    assert main(["history", *runs, "--folder", str(folder)]) == 0
    assert "page = CoursePage()" in (folder / "index.html").read_text()
    assert {path.stem for path in folder.glob("*.parquet")} == {"history", "runs"}
    assert "0 of 2 curves of an arm against its reference came to another level" in capsys.readouterr().out


def test_help_teaches(capsys):
    for command, words in (("compare", "better, worse, the same, or cannot tell"), ("history", "in order of time")):
        with pytest.raises(SystemExit) as ended:
            main([command, "--help"])
        told = " ".join(capsys.readouterr().out.split())
        assert ended.value.code == 0 and words in told and "measures nothing" in told
