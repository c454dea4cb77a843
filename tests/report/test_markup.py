"""Do the parts of the page stay whole with any text in them, and are long ones folded, with short names of curves?"""

import re
from pathlib import Path

import pytest
from campaigns import Campaign, zmq
from IPython.display import Markdown

from crossover.report.pages.index import Page
from crossover.report.text import markup

GLOSSARY = Path(__file__).parents[2] / "docs" / "glossary.md"
LEADS = {"zmq_throughput": "throughput", "mpi_pingpong": "round trip", "task_latency": "round trip"}


def test_a_bar_in_a_cell_does_not_end_it():
    assert markup.table([{"a": "x|y"}]).splitlines()[2] == "| x\\|y |"


def test_cells_are_under_their_headings_in_any_order():
    swapped = markup.table([{"arm": "copy", "at": "1 kB"}, {"at": "2 kB", "arm": "no-copy"}])
    assert swapped.splitlines()[2:] == ["| copy | 1 kB |", "| no-copy | 2 kB |"]


def test_a_line_without_a_cell_is_refused():
    with pytest.raises(KeyError):
        markup.table([{"arm": "copy", "at": "1 kB"}, {"arm": "no-copy"}])


@pytest.fixture(scope="module")
def page(results):
    return Page(LEADS, results)


def test_a_fold_says_how_many_rows_it_has_and_may_be_a_numbered_table(page):
    shown = page.fold(page.verdicts("zmq_throughput"), "Every pair", "A caption.", "pairs").data
    assert "<details><summary>Every pair: 2 rows</summary>" in shown
    assert "::: {#tbl-pairs}" in shown and shown.count("A caption.") == 1
    assert "<summary>Results: 3 items</summary>" in page.fold(Markdown("- a\n- b\n- c"), "Results").data


def test_a_reason_is_not_folded(page):
    assert page.fold(Markdown("Nothing was measured."), "Lines", "A caption.", "x").data == "Nothing was measured."


def test_a_section_opens_with_its_result_and_picture_and_folds_its_numbers(page):
    opening, _, folded = page.experiment("zmq_throughput").data.partition("<details><summary>All numbers: ")
    assert opening.startswith("- **ZeroMQ stream, tcp:** `copy`, from ")
    assert opening.count('class="crossover-panel"') == 2 and "| arms |" not in opening
    assert folded.startswith("8 rows") and "panel-tabset" in folded and "| 100 B |" in folded
    assert "<details" not in page.experiment("task_latency").data


def test_plain_curves_come_first_whatever_their_names(tmp_path):
    curves = ["DEALER/ROUTER over ipc", "PUSH/PULL over inproc", "PUSH/PULL over tcp"]
    made = Campaign([zmq(protocol=name) for name in curves])
    shown = Page(LEADS, made.write(tmp_path)).picture("zmq_throughput").data
    assert re.findall('data-panel="([^"]*)"', shown) == [curves[2], curves[1], curves[0]]


def test_the_explanations_of_words_are_those_of_the_glossary():
    lines = GLOSSARY.read_text().splitlines()
    rows = dict(
        re.fullmatch(r"\| \*\*(.+?)\*\* \| (.+) \|", line).groups() for line in lines if line.startswith("| **")
    )
    assert {word: markup.plain(rows[word]) for word in markup.TERMS} == markup.TERMS


def test_a_word_is_explained_once_where_it_is_first_met_in_prose():
    text = "`arm` of [5, 7] arms\n\n| launch |\n\n```\nlaunch\n```\n\nOver launches, the null arm, an arm, one launch."
    shown = markup.explained(text)
    notes = re.findall(r"\[([^\]]*)\]\{\.term tabindex=\"0\" title=\"([^\"]*)\"\}", shown)
    assert notes == [
        (word, markup.TERMS[term]) for word, term in (("arms", "arm"), ("launches", "launch"), ("null arm",) * 2)
    ]
    assert re.sub(r"\[([^\]]*)\]\{[^}]*\}", r"\1", shown) == text
    assert "armour" in markup.explained("armour") and "{" not in markup.explained("armour")
