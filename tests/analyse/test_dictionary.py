"""Does docs/data.md describe the tables correctly?"""

import re
from pathlib import Path

import duckdb
import pytest
from synthetic import SIZES, launched, rows

import crossover
from crossover.analyse.tables import compare, writer
from crossover.analyse.tables.raw_files import gather
from crossover.analyse.tables.writer import join
from crossover.design.protocol import KEYS
from crossover.records import record
from crossover.records.holes import HoleKind

TABLES = writer.TABLES | compare.TABLES
DOCS = Path(__file__).parents[2] / "docs"
ALL = TABLES | {"measurements": record.MEASUREMENTS, "claims": record.CLAIMS, "recommendations": record.RECOMMENDATIONS}
SHARED = ("keys", "panel", "axis", "arm")
"""Sections on columns that several tables share."""
PAGE = (DOCS / "data.md").read_text(encoding="utf-8")


def section(title):
    """The text under a heading of the page, such as a table's name."""
    return re.search(rf"^####? {title}$(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]


def entries(title):
    """The rows under a heading, as lists of texts."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[text.strip() for text in line.strip("|").split("|")] for line in lines[2:]]


def test_the_page_has_exactly_one_section_for_each_table():
    assert set(re.findall(r"^### (.*)$", PAGE, re.MULTILINE)) == {*SHARED, *ALL}
    assert f"schema version {record.VERSION}." in PAGE


def test_the_page_explains_each_key_and_kind_of_hole():
    assert [(name.strip("`"), meaning) for name, *_, meaning in entries("keys")] == [
        (name, key.meaning) for name, key in KEYS.items()
    ]
    assert [kind.strip("`") for kind, meaning in entries("Kinds of holes") if meaning.endswith(".")] == list(HoleKind)


@pytest.mark.parametrize("table", ALL)
def test_the_page_lists_exactly_the_columns_of_each_schema_with_their_types(table):
    shared = re.search(r"^With the columns of (.*)\.$", section(table), re.MULTILINE)
    rows = [row for title in (table, *re.findall(r"#(\w+)", shared[1] if shared else "")) for row in entries(title)]
    assert all(meaning.endswith(".") for *_, meaning in rows)
    listed = [(name.strip("`"), kind.strip("`").replace("float64", "double")) for name, kind, *_ in rows]
    assert sorted(listed) == sorted((field.name, str(field.type).replace("item: ", "")) for field in ALL[table])


def test_links_lead_to_headings_of_the_page():
    headings = {heading.lower().replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)}
    assert set(re.findall(r"\]\(#(.*?)\)", PAGE)) <= headings


@pytest.fixture
def run(tmp_path, monkeypatch):
    """The tables of a run, in `results` of the current folder."""
    values = {arm: [[1e-6] * 10] * len(SIZES) for arm in ("send", "Send", "null")}
    measured = rows(values, experiment="mpi_pingpong")
    monkeypatch.chdir(tmp_path)
    folder = Path("results/experiments/mpi_pingpong")
    gather([launched(Path("results"), measured, experiment="mpi_pingpong")], folder)
    # Of another run, and in no table.
    launched(Path("results"), measured, experiment="mpi_pingpong", launch=2)
    join([folder], Path("results"))


def blocks(language):
    """The code on the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_example_of_the_page_runs(run):
    found = {}
    for code in blocks("python"):
        exec(code, found)
    assert len(found["curve"]) == len(SIZES)
    same = crossover.load().measurements()
    assert found["measurements"].count_rows() == same.count_rows() == 3 * 10 * len(SIZES)
    assert Path("ratio.svg").read_text().startswith("<svg")


def test_the_queries_of_the_page_run(run):
    queries = "".join(blocks("sql")).splitlines()
    competing, noise, medians, measured, *_ = (duckdb.sql(query).fetchall() for query in queries)
    assert [(row[2], row[3]) for row in competing] == [("Send", x) for x in SIZES]
    assert noise == [("mpi_pingpong", pytest.approx(0))]
    assert sorted({row[1] for row in medians}) == ["Send", "send"] and len(medians) == 2 * len(SIZES)
    assert len(measured) == 3 * len(SIZES)
