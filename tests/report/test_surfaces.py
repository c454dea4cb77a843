"""Are page, terminal and charts the same as before? `pytest --snapshot-update` stores a change that is meant."""

import json

import pytest
from campaigns import Campaign, lasting, mpi, zmq
from surfaces import CHANGES, DIFFERENCES, LEADS, TCP, WAITING, everything, lines, sections

from crossover.config import published
from crossover.records import record
from crossover.report.charts import figures
from crossover.report.pages import changes, heading, terminal
from crossover.report.pages.index import Page
from crossover.report.pages.parts import WAITING_VARIABLE

DRAWN = {"zmq_throughput": TCP, "mpi_pingpong": mpi().protocol, "task_map": lasting().protocol}
DRAWN["task_latency"] = "empty tasks, engines: 4"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return everything().write(tmp_path_factory.mktemp("everything"))


def test_every_section_of_the_page_is_as_it_was(written, monkeypatch, snapshot):
    monkeypatch.setenv(WAITING_VARIABLE, json.dumps(WAITING))
    assert heading.titled("---\ntitle: A\nsubtitle: B\n---\n", written) == snapshot(name="title")
    texts = sections(Page(LEADS, written))
    assert " ".join(texts) == snapshot(name="sections")
    for name, text in texts.items():
        assert text == snapshot(name=name)


@pytest.mark.parametrize("curves", [[], [zmq(launches=1)]], ids=["empty", "one launch"])
def test_what_a_run_without_choices_says_is_as_it_was(curves, tmp_path, monkeypatch, capsys, snapshot):
    few = {"hosts": {"zmq_throughput": {"nodes": 2}, "task_map": {"nodes": 3}}, "too_few_nodes": "too few nodes"}
    monkeypatch.setenv(WAITING_VARIABLE, json.dumps(few))
    monkeypatch.chdir(tmp_path)
    texts = sections(Page({"zmq_throughput": "throughput"}, Campaign(curves).write(tmp_path)))
    terminal.show(tmp_path.relative_to(tmp_path))
    texts["terminal"] = capsys.readouterr().out
    if curves:
        del texts["machine"], texts["health"]
    assert "\n\n".join(f"{part}:\n{text}" for part, text in texts.items()) == snapshot


def test_the_answer_in_a_terminal_is_as_it_was(written, monkeypatch, capsys, snapshot):
    monkeypatch.chdir(written)
    whole, short = (
        (terminal.show(written.relative_to(written), everything=every), capsys.readouterr().out)[1]
        for every in (True, False)
    )
    assert whole == snapshot(name="all")
    assert "\n".join(line for line in short.splitlines() if line not in whole.splitlines()) == snapshot(name="short")
    assert short.index("What to choose") < short.index("Settings to paste") < short.index("Holes: ")


@pytest.mark.parametrize("experiment", DRAWN)
def test_the_charts_are_as_they_were(written, experiment, snapshot):
    (panel,) = (
        panel for panel in Page(LEADS, written).tables.leading(experiment) if panel.protocol == DRAWN[experiment]
    )
    for kind in (figures.curve, figures.ratio):
        assert lines(kind(panel, published.read()).to_dict()) == snapshot(name=kind.__name__)


def test_the_comparison_of_two_runs_is_as_it_was(tmp_path, snapshot):
    for name, rows in {"changes": CHANGES, "differences": DIFFERENCES}.items():
        record.write(record.from_rows(rows, record.schemas(name)[name]), tmp_path / f"{name}.parquet")
    assert changes.in_a_terminal(changes.load(tmp_path)) == snapshot
