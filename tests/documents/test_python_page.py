"""Does the page on questions to a run tell the truth?"""

import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
from runs import stored

import crossover
from crossover.__main__ import main
from crossover.cli.command import TYPED
from crossover.design.protocol import KEYS

PAGE = (Path(__file__).parents[2] / "docs/python.md").read_text()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the results of a run; the current folder."""
    (tmp_path / "results").mkdir()
    stored(2, tmp_path / "results")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_code_runs_from_top_to_bottom(project: Path) -> None:
    found = re.findall(r"^```python\n(.+?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    for code in found:
        exec(code, names)
    assert len(found) > 3
    assert all(
        isinstance(names[name], pd.DataFrame) for name in ("answers", "choices", "crossovers", "ratios", "settings")
    )
    assert "<svg" in (project / "ratios.svg").read_text()


def test_the_commands_run_and_print_the_example(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commands = re.findall(rf"^    {re.escape(TYPED)} (.+)$", PAGE, re.MULTILINE)
    examples = re.findall(r"\n\n```\n(.+?)```\n", PAGE, re.DOTALL)
    assert len(commands) == 4 and len(examples) == 2
    for command in commands:
        assert main(shlex.split(command)) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("".join(examples))


def test_the_page_explains_every_column_of_an_answer(project: Path) -> None:
    frame = crossover.load("results").ask("zmq_throughput", at="40kB", transport="tcp")
    text = PAGE.partition("| column |")[2].partition("```")[0]
    assert set(frame.columns) - set(KEYS) <= set(re.findall(r"`([a-z_]+)`", text))


def test_the_options_of_the_page_exist(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["ask", "--help"])
    shown = capsys.readouterr().out
    table = PAGE.partition("| option |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(--[a-z]+)`", table))
    assert len(named) > 6 and [option for option in named if option not in shown] == []
