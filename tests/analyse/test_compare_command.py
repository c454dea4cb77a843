"""Does `compare` turn two result folders into tables and a summary in the terminal?"""

from pathlib import Path

import pytest
from runs import finished
from synthetic import SIZES

from crossover.__main__ import main


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


def test_help_explains_the_command(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["compare", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == 0 and "better, worse, the same or open" in told and "measures nothing" in told
