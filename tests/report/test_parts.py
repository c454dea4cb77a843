"""Does a figure or part of the page that fails leave its reason, and change nothing else?"""

import re
import shutil

import pytest
from campaigns import Campaign, mpi, two_good_one_hole, zmq

from crossover.__main__ import main
from crossover.records import failure, record
from crossover.records.failure import Failure
from crossover.report.charts import crossings, figures, gallery, ladder, overview
from crossover.report.pages import heading, index, renderer
from crossover.report.pages.index import Page
from crossover.report.pages.parts import AnyPage
from crossover.report.text import certainty, choices, claims, findings, holes, machine, numbers, recommendations

LEADS = {"zmq_throughput": "throughput", "mpi_pingpong": "round trip", "task_latency": "round trip"}

PARTS = {
    "cards": (heading, "cards"),
    "map": (overview, "picture"),
    "recommended": (recommendations, "section"),
    "summary": (heading, "summary"),
    "crossovers": (crossings, "picture"),
    "machine": (machine, "kinds"),
    "health": (machine, "health"),
    "hosts": (machine, "compared_hosts"),
    "shared": (machine, "shared_hosts"),
    "holes": (holes, "paragraphs"),
    "certainty": (certainty, "sentences"),
    "sure": (certainty, "sure"),
    "claims": (claims, "counts"),
    "claims_told": (claims, "paragraphs"),
    "ladder": (ladder, "panel"),
    "odds": (numbers, "odds"),
    "alike": (numbers, "alike"),
}
"""The parts of the page without an experiment, each with the function that it calls."""

OF_EXPERIMENT = {
    "result": (choices, "asked"),
    "picture": (gallery, "captioned"),
    "charts": (gallery, "captioned"),
    "verdicts": (findings, "crossover_lines"),
    "findings": (findings, "refinement"),
    "ratios": (findings, "ratio_lines"),
    "waiting": (index, "waiting"),
}


def fault(*_, **__):
    raise ValueError("a fault")


@pytest.fixture(scope="module")
def page(results):
    return Page(LEADS, results)


def shown(page):
    """Every part of the page, as text."""
    made = {name: getattr(page, name)() for name in PARTS}
    made |= {f"{name} {each}": getattr(page, name)(each) for name in OF_EXPERIMENT for each in LEADS}
    return {name: said if isinstance(said, str) else said.data for name, said in made.items()}


@pytest.fixture(scope="module")
def before(page):
    return shown(page)


def test_every_part_of_the_page_is_tried_here():
    own = {**vars(AnyPage), **vars(Page)}
    methods = {name: method for name, method in own.items() if not name.startswith("_")}
    parts = {name for name, method in methods.items() if hasattr(method, "__wrapped__")}
    assert parts == PARTS.keys() | OF_EXPERIMENT.keys() | {"experiments"}
    assert parts | {"experiment", "section", "fold", "script", "failed"} == methods.keys()


@pytest.mark.parametrize("name", [*PARTS, *OF_EXPERIMENT])
def test_a_part_that_fails_says_so_and_the_others_do_not_change(page, before, monkeypatch, tmp_path, name):
    monkeypatch.setenv("CROSSOVER_FAILURES", str(tmp_path / "failures"))
    monkeypatch.setattr(*(PARTS | OF_EXPERIMENT)[name], fault)
    after = shown(page)
    changed = [part for part in before if before[part] != after[part]]
    assert name in {part.split()[0] for part in changed}
    # Two parts that call the same function both fail.
    for part in changed:
        assert "This part of the page failed: " in after[part], part
        assert "Error: " in after[part]
    failures = failure.of(tmp_path / "failures")
    assert name in {each.name for each in failures}
    assert {each.kind for each in failures} == {"section"}


def test_the_page_names_failures_in_the_results_at_its_top_and_in_their_places(results, tmp_path):
    folder = shutil.copytree(results, tmp_path / "results")
    cause = Failure("table", "hosts", "mpi_pingpong", "ValueError: a fault", "analyse/estimates/hosts.py, line 7")
    record.write(record.HOSTS.empty_table(), folder / "hosts.parquet", failure.stored([cause]))
    shown = Page(LEADS, folder)
    told = "able `hosts` of `mpi_pingpong`"
    assert f"- T{told}: `ValueError: a fault`, raised in `analyse/estimates/hosts.py, line 7`." in shown.failed().data
    for part in (shown.hosts(), shown.picture("mpi_pingpong"), shown.holes()):
        assert told in part.data and "ValueError: a fault" in part.data
    assert told not in shown.picture("zmq_throughput").data + shown.sure().data
    assert Page(LEADS, results).failed().data == ""


@pytest.mark.parametrize(
    "wrong", ["throughput-push-pull-over-tcp-64-mb-in-flight", "bandwidth-push-pull-over-ipc-64-mb-in-flight-ratio"]
)
def test_a_figure_that_fails_is_left_out_and_the_others_do_not_change(results, tmp_path, monkeypatch, wrong):
    before, after = results, tmp_path / "after"
    kind = "ratio" if wrong.endswith("-ratio") else "curve"
    draw = getattr(figures, kind)
    monkeypatch.setattr(
        figures, kind, lambda panel, *told: fault() if wrong.startswith(panel.name) else draw(panel, *told)
    )
    two_good_one_hole().write(after)
    drawn = {path.relative_to(before): path.read_bytes() for path in before.rglob("figures/*/*.json")}
    kept = {path.relative_to(after): path.read_bytes() for path in after.rglob("figures/*/*.json")}
    lost = {path for path in drawn if kept.get(path) != drawn[path]}
    assert {path.name.split(".")[0] for path in lost} == {wrong}
    assert {path.name for path in kept.keys() - drawn.keys()} == {failure.FILE}
    page = Page(LEADS, after).experiment("zmq_throughput").data
    assert page.count("This figure could not be drawn: ValueError: a fault (report/") == 1
    assert f"Figure `{wrong}` of `zmq_throughput`: `ValueError: a fault`" in Page(LEADS, after).failed().data
    whole = Page(LEADS, before).experiment("zmq_throughput").data
    assert page.count('class="crossover-canvas"') == whole.count('class="crossover-canvas"') - 1


def test_a_ladder_that_fails_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(ladder, "panel", fault)
    ladder.draw(Campaign([zmq(), mpi()]).write_tables(tmp_path), tmp_path / "figures" / "ladder")
    assert [(each.kind, each.name) for each in failure.of(tmp_path / "figures" / "ladder")] == [("figure", "ladder")]


def test_an_experiment_with_failed_tables_is_not_reported_as_absent(results, tmp_path):
    folder = shutil.copytree(results, tmp_path / "results")
    cause = Failure("table", "launches", "task_map", "ValueError: a fault", "analyse/tables/raw_files.py, line 7")
    table = record.read(folder / "launches.parquet", record.LAUNCHES)
    record.write(table, folder / "launches.parquet", failure.stored([cause]))
    leads = LEADS | {"task_map": "efficiency"}
    for part in (Page(leads, folder).picture("task_map"), Page(leads, folder).holes()):
        assert "able `launches` of `task_map`" in part.data
        assert "no launch in this run" not in part.data
    assert "`task_map` has no launch in this run" in Page(leads, results).holes().data


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """A report whose source has one failing cell, and no Quarto."""
    source = shutil.copytree(renderer.REPORTS, tmp_path / "reports")
    text = (source / "index.qmd").read_text()
    setup = "from crossover.report.pages.index import Page\n"
    assert setup in text
    (source / "index.qmd").write_text(
        text.replace(setup, f"{setup}from crossover.report.text import certainty\ncertainty.sure = 1\n")
    )
    monkeypatch.setattr(renderer, "REPORTS", source)
    monkeypatch.setenv("PATH", str(tmp_path))


def test_a_page_with_a_failed_part_names_it_at_its_top_and_the_command_fails(broken, results, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["report", str(results), "--page", str(page)]) == 1
    said = capsys.readouterr().err
    assert said.count("preview renders") == 2
    assert "section sure: TypeError: 'int' object is not callable (report/pages/index.py, line " in said
    (failed,) = failure.of(page)
    assert (failed.kind, failed.name) == ("section", "sure")
    text = page.read_text()
    assert text.index("Parts of this run failed") < text.index('id="sec-recommended"') < text.index('id="sec-holes"')
    assert len(re.findall("TypeError: 'int' object is not callable|TypeError: &#39;int&#39; object", text)) >= 3


def test_with_go_on_a_failed_part_does_not_fail_the_command(results, tmp_path, monkeypatch):
    failed = Failure("section", "sure", "", "ValueError: a fault", "")
    monkeypatch.setattr(renderer, "render", lambda *_, **__: [failed])
    command = ["report", str(results), "--page", str(tmp_path / "page.html")]
    assert (main(command), main([*command, "--go-on"])) == (1, 0)


def test_a_page_without_failures_is_rendered_once(results, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert renderer.render(results, tmp_path / "page.html") == []
    assert capsys.readouterr().err.count("preview renders") == 1
    assert failure.KEY not in (tmp_path / "page.html").read_text()
