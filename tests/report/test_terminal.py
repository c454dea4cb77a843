"""Does a run end with the right answer, in few lines?"""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from campaigns import TASK_HOLES, Campaign, mpi, near, run, tasks, two_good_one_hole, zmq
from rich.console import Console
from rich.text import Text
from surfaces import sensitivity

from crossover.records import record
from crossover.records.rows import Claim
from crossover.report.pages import terminal
from crossover.report.text import certainty, choices, claims
from crossover.report.text.tables import load


def printed(tables, results, capsys, monkeypatch, **named):
    monkeypatch.setattr(terminal, "load", lambda _: tables)
    terminal.show(results, **named)
    return capsys.readouterr().out


@pytest.mark.parametrize(("effect", "words"), [(1.0, "showed no bias."), (1.031, "may differ by up to 3.1 % in ")])
def test_one_possible_bias_is_told_alone(effect, words):
    assert words in certainty.bias(run(Campaign([zmq()], estimated={"sensitivity": [sensitivity(zmq(), effect)]})))


@pytest.mark.parametrize("put", [lambda path: None, os.mkfifo, Path.mkdir], ids=["missing", "FIFO", "folder"])
@pytest.mark.parametrize("name", ["choices", "ratios"])
def test_without_one_of_its_tables_a_run_has_no_answer(tmp_path, put, name):
    path = Campaign([zmq()]).write_tables(tmp_path) / f"{name}.parquet"
    shutil.rmtree(tmp_path / "experiments")
    path.unlink()
    put(path)
    with pytest.raises(record.RecordError, match=rf"^{path}: (is missing, .*; repeat|.*no regular file.*delete)"):
        terminal.show(tmp_path)


def test_claims_on_experiments_that_were_not_launched_are_counted(tmp_path):
    rows = [{"claim": name, "experiment": name, "own": "contradicts"} for name in ("mpi_pingpong", "zmq_bursts")]
    Campaign([mpi()], estimated={"claims": rows}).write_tables(tmp_path)
    assert [row.claim for row in load(tmp_path).claims] == ["mpi_pingpong", "zmq_bursts"]


def many(count):
    """Questions of a stream with other windows and other crossovers, so that no two are told as one."""
    return [zmq(protocol=f"PUSH/PULL over tcp, {n} MB in flight", centre=300.0 * 1.2**n) for n in range(1, count + 1)]


def test_a_long_answer_is_cut_with_the_command_that_prints_all(tmp_path, capsys, monkeypatch):
    tables = run(Campaign(many(39)))
    said = printed(tables, tmp_path, capsys, monkeypatch)
    assert said.count("\n") <= terminal.LINES and "more: crossover show --all" in said
    assert printed(tables, tmp_path, capsys, monkeypatch, everything=True).count("copy, from ") >= 10


def test_no_line_is_wider_than_80_columns_or_ends_with_a_blank(tmp_path, capsys, monkeypatch):
    wide = mpi(arm="a way to hand messages over whose name takes more than one line")
    for tables in (run(two_good_one_hole()), run(Campaign([*many(5), wide, near()]))):
        judged = replace(tables, claims=[Claim.of({"verdict": verdict}) for verdict in claims.VERDICTS])
        said = printed(judged, tmp_path, capsys, monkeypatch).splitlines()
        assert all(len(line) <= 80 for line in said if not line.startswith("To retry: "))
        assert not [line for line in said if line != line.rstrip()]


@pytest.mark.parametrize("width", [20, 28, 40, 50, 66])
def test_a_narrow_terminal_has_whole_words_of_every_choice_and_cost(width, tmp_path):
    tables = run(Campaign([zmq(), mpi(), tasks("round trip")], holes=list(TASK_HOLES)))
    questions = choices.asked(tables)
    said = [line.plain for line in terminal.answer(tables, tmp_path, questions, len(questions), width=width)]
    assert all(len(line) <= width for line in said if not line.startswith(("To retry: ", "Settings to paste")))
    words = " ".join(" ".join(said).split())
    for question in questions:
        assert " ".join(choices.plain(question.cost).split()) in words
        assert question.name in words and question.segments[0][0] in words


def test_an_experiment_alone_has_no_settings_and_no_claims(results, capsys):
    alone = results / "experiments"
    terminal.show(alone / "mpi_pingpong")
    said = capsys.readouterr().out
    assert terminal.HEADING in said and "Settings" not in said
    first = "Send NumPy arrays with Send, not send: 1.4 to 2.4 times as fast up to 80 kB (fresh memory)"
    assert [terminal.strongest(alone / name) for name in ("mpi_pingpong", "task_latency")] == [first, ""]


def test_in_a_terminal_the_answer_fits_its_width(results, capsys, monkeypatch):
    monkeypatch.setattr(terminal, "Console", lambda **named: Console(**{"width": 80, **named, "force_terminal": True}))
    terminal.show(results)
    said = capsys.readouterr().out
    lines = [Text.from_ansi(line).plain for line in said.splitlines()]
    # The terminal itself wraps a command, so that it can still be copied as one line.
    assert all(len(line) <= 80 for line in lines if not line.startswith("To retry: "))
    assert f"\x1b[1m{terminal.HEADING}" in said
