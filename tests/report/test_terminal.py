"""Does a run end with the right answer, in few lines?"""

import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from campaigns import (
    KEPT,
    TASK_HOLES,
    Campaign,
    mpi,
    near,
    recommendation,
    run,
    tasks,
    two_good_one_hole,
    zmq,
)
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from crossover.experiments import leads
from crossover.planning.command import Command
from crossover.records import record
from crossover.report.pages import terminal
from crossover.report.text import choices, claims
from crossover.report.text.tables import Tables, load, panel_names

LEADS = leads()


WORSE, UNSURE, EQUAL, BETTER = (0.4, 0.6), (0.7, 1.4), (0.9, 1.1), (1.8, 2.2)
STANDINGS = st.lists(st.sampled_from([WORSE, UNSURE, EQUAL, BETTER]), min_size=1, max_size=8)


def test_names_have_the_title_and_only_what_tells_curves_apart():
    def named(*curves):
        return list(panel_names(run(Campaign(list(curves))).all_leading(LEADS)).values())

    assert named(zmq()) == ["ZeroMQ stream, tcp"]
    both = named(zmq(), zmq(protocol="PUSH/PULL over ipc, 64 MB in flight"))
    assert both == ["ZeroMQ stream, ipc", "ZeroMQ stream, tcp"]
    assert named(zmq(experiment="toy_races")) == ["toy races, tcp"]


def printed(tables, results, capsys, monkeypatch, **named):
    monkeypatch.setattr(terminal, "load", lambda _: tables)
    terminal.show(results, LEADS, **named)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("effects", "words"),
    [
        ((1.0,), "Equal arms showed no bias."),
        ((1.031,), "Equal arms may differ by up to 3.1 % in zmq_throughput."),
        ((1.031, 1.01), "Equal arms may differ by 2 % in the median experiment, by up to 3.1 % in zmq_throughput."),
        ((None,), "The possible bias is unknown: no null arm was replicated."),
    ],
)
def test_the_first_lines_have_the_possible_bias_and_the_share_that_is_settled(
    effects, words, tmp_path, capsys, monkeypatch
):
    named = (("zmq_throughput", "throughput"), ("mpi_pingpong", "round trip"))
    sensitivity = [
        {"experiment": name, "placement": "node", "metric": metric, "smallest_effect": effect}
        for (name, metric), effect in zip(named, effects, strict=False)
    ]
    said = printed(replace(run(two_good_one_hole()), sensitivity=sensitivity), tmp_path, capsys, monkeypatch)
    first, *rest = said.split("\n\n")[0].splitlines()
    assert first.endswith("(4 cores).")
    assert re.fullmatch(rf"{re.escape(words)} Within 1.25 times of the best: .* % of \d+ points; .*", " ".join(rest))


def test_the_answer_has_choices_claims_holes_and_the_page(tmp_path, capsys, monkeypatch):
    claims = [{"verdict": verdict} for verdict in ("holds", "larger here", "larger here", "open", "not measured")]
    tables = replace(run(two_good_one_hole()), claims=claims)
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "index.html").touch()
    said = printed(tables, tmp_path, capsys, monkeypatch)
    assert said.splitlines()[0].startswith("Measured 6 launches (")
    assert re.search(r"^  ZeroMQ stream, tcp +copy, from \d.* kB no-copy +1\.\d\d$", said, re.MULTILINE)
    assert re.search(r"^  mpi4py arrays, fresh memory +Send everywhere, .* times faster +1\.00$", said, re.MULTILINE)
    assert said.index("mpi4py arrays") < said.index("ZeroMQ stream")
    assert "Settings to paste: 1, in recommended.toml" in said
    assert "Published claims: 1 hold, 2 larger here, 1 open, 1 not measured" in said
    assert "Holes: 3 launches not measured, the first task_latency node launch 1 (timeout" in said
    files = " ".join(row["receipt"] for row in tables.holes())
    assert f"To retry: snakemake --profile profiles/local -R {files} --config results=results tier=quick\n" in said
    assert said.endswith(f"Report: {tmp_path}/report/index.html\n")
    assert said.count("\n") <= terminal.LINES


def joined(folder):
    shutil.rmtree(two_good_one_hole().write_tables(folder) / "experiments")


def missing(path):
    path.unlink(missing_ok=True)


@pytest.mark.parametrize("put", [missing, os.mkfifo, Path.mkdir], ids=["missing", "FIFO", "folder"])
@pytest.mark.parametrize("name", ["choices", "ratios"])
def test_without_one_of_its_tables_a_run_has_no_answer(tmp_path, put, name):
    joined(tmp_path)
    path = tmp_path / f"{name}.parquet"
    path.unlink()
    put(path)
    with pytest.raises(record.RecordError, match=rf"^{path}: (is missing, .*; repeat|.*no regular file.*delete)"):
        terminal.show(tmp_path, LEADS)


def test_claims_on_experiments_that_were_not_launched_are_counted(tmp_path):
    joined(tmp_path)
    rows = [{"claim": name, "experiment": name, "own": "contradicts"} for name in ("mpi_pingpong", "zmq_bursts")]
    record.write(record.from_rows(rows, record.CLAIMS), tmp_path / "claims.parquet")
    assert [row["claim"] for row in load(tmp_path).claims] == ["mpi_pingpong", "zmq_bursts"]


def test_the_command_to_retry_is_the_runs_own_in_one_line(tmp_path, capsys, monkeypatch):
    own = Command(("--profile", "slurm", "--cores", "2"), ("tier=paper",))
    tables = run(two_good_one_hole())
    said = printed(tables, tmp_path, capsys, monkeypatch, command=own)
    files = " ".join(row["receipt"] for row in tables.holes())
    assert f"To retry: snakemake --profile slurm --cores 2 -R {files} --config tier=paper\n" in said


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
        judged = replace(tables, claims=[{"verdict": verdict} for verdict in claims.VERDICTS])
        said = printed(judged, tmp_path, capsys, monkeypatch).splitlines()
        assert all(len(line) <= 80 for line in said if not line.startswith("To retry: "))
        assert not [line for line in said if line != line.rstrip()]


@pytest.mark.parametrize("width", [20, 28, 40, 50, 66])
def test_a_narrow_terminal_has_whole_words_of_every_choice_and_cost(width, tmp_path):
    tables = run(Campaign([zmq(), mpi(), tasks("round trip")], holes=list(TASK_HOLES)))
    questions = choices.asked(tables)
    said = [line.plain for line in terminal.answer(tables, LEADS, tmp_path, questions, len(questions), width=width)]
    assert all(len(line) <= width for line in said if not line.startswith(("To retry: ", "Settings to paste")))
    words = " ".join(" ".join(said).split())
    for question in questions:
        assert " ".join(choices.plain(question.cost).split()) in words
        assert question.name in words and question.segments[0][0] in words


def test_all_settings_are_told_on_request(tmp_path, capsys, monkeypatch):
    call = recommendation(
        setting="send, Send or pkl5", arm="Send", default="send", value='"Send"', snippet="comm.Send(array, other)",
        experiment="mpi_pingpong", protocol=mpi().protocol, metric="round trip", **dict.fromkeys(("x", "low", "high")),
    )  # fmt: skip
    rows = [recommendation(low=900.0), call, recommendation(**KEPT)]
    tables = replace(run(Campaign([mpi()])), recommendations=rows)
    said = " ".join(printed(tables, tmp_path, capsys, monkeypatch, everything=True).split())
    assert "pyzmq: copy_threshold = 14700 [0.9, 21 kB], for zmq_throughput: 1.9 to 13 times better than copy" in said
    assert "Send instead of send everywhere, for mpi4py arrays, fresh memory: 1.9 to 13 times better than send" in said
    assert "Settings to paste: 2," in printed(tables, tmp_path, capsys, monkeypatch)


def test_open_points_name_the_time_that_would_settle_some(tmp_path, capsys, monkeypatch):
    tables = run(Campaign([near()]))
    said = " ".join(printed(tables, tmp_path, capsys, monkeypatch).split())
    assert re.search(r"Open: \d+ of \d+ points\. crossover more \(about .*\) would settle \d+ or more\.", said)
    hopeless = run(Campaign([tasks("round trip", slope=0.0001)]))
    assert "crossover more" not in printed(hopeless, tmp_path, capsys, monkeypatch)


def test_an_experiment_alone_has_no_settings_and_no_claims(tmp_path, capsys):
    two_good_one_hole().write_tables(tmp_path)
    terminal.show(tmp_path / "experiments" / "mpi_pingpong", LEADS)
    said = capsys.readouterr().out
    assert terminal.HEADING in said and "Settings" not in said
    assert (
        terminal.strongest(tmp_path / "experiments" / "mpi_pingpong")
        == "mpi4py arrays, fresh memory: Send everywhere (surely the best)"
    )
    assert terminal.strongest(tmp_path / "experiments" / "task_latency") == ""


def test_in_a_terminal_the_answer_fits_its_width(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(terminal, "Console", lambda **named: Console(**{"width": 80, **named, "force_terminal": True}))
    said = printed(run(two_good_one_hole()), tmp_path, capsys, monkeypatch)
    lines = [Text.from_ansi(line).plain for line in said.splitlines()]
    # The terminal itself wraps a command, so that it can still be copied as one line.
    assert all(len(line) <= 80 for line in lines if not line.startswith("To retry: "))
    assert f"\x1b[1m{terminal.HEADING}" in said


def test_nothing_measured_says_so(tmp_path, capsys, monkeypatch):
    empty = Tables([], [], [], [], [])
    assert "Nothing to choose: no arms could be compared" in printed(empty, tmp_path, capsys, monkeypatch)
    only_holes = run(Campaign([], holes=list(TASK_HOLES)))
    assert "Holes: 3 launches" in printed(only_holes, tmp_path, capsys, monkeypatch)
