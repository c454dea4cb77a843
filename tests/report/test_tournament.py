"""Does a reader of a tournament learn which host and which link is slow, and is every chart legible?"""

import re

import pyarrow.parquet as pq
import pytest
from campaigns import mpi
from pairs import campaign, tournament
from test_figures import specifications

from crossover.records.rows import TOPOLOGY, Rank
from crossover.report.pages import renderer, terminal
from crossover.report.pages.index import Page
from crossover.report.text.tables import Tables
from crossover.report.tournament import charts, words
from crossover.share import private

LEADS = {"mpi_pingpong": "round trip"}
LEAVES = {"node1": "leaf2", "node2": "leaf10", "node3": "leaf10", "node4": "leaf2", "node5": "leaf10"}
SLOW, LINK = {"node3": 1.25}, {("node1", "node2"): 1.8}


def of(**changes):
    return words.of(Tables.of({"pairs": tournament(**changes)}), "mpi_pingpong")


def leading(**changes):
    return charts.contests(of(**changes), {})[0]


def test_the_slow_host_and_link_are_named_with_their_strongest_measurement_and_nobody_else():
    said = of(slow=SLOW, links=LINK, unsure=("node9",)).sentence
    assert "Of 16 hosts in 3 launches, 1 is slow, 14 are at most 1.6 % worse than the others and 1 is open." in said
    assert re.findall(r"`(node\d+)`", said) == ["node3", "node1", "node2"]
    measured = r"1\.2\d \[1\.2\d, 1\.2\d\] times worse than the others \(bandwidth at 1 MB, `one pair at a time`\)\. "
    assert re.search(f"Slow host: `node3` is {measured}", said)
    assert re.search(r"Slow link: `node1`–`node2` is 1\.8\d? \[.*\] times worse than its hosts explain", said)


def test_a_host_speaks_by_its_surest_row_and_the_others_are_counted():
    rows = tournament(4, SLOW)
    weak = next(row for row in rows if row["host"] == "node3" and row["arm"] == "all pairs at once")
    # A larger factor that is less sure.
    weak.update(factor=1.5, low=1.1, high=2.0, verdict="worse")
    (row,) = words.Tournament(Tables.of({"pairs": rows}).pairs).slow_hosts
    assert (row.metric, row.arm) == ("bandwidth", "one pair at a time")
    assert "in 2 of 4 measurements" in words.Tournament(Tables.of({"pairs": rows}).pairs).sentence


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "none is shown to be slow: 16 are at most 1.6 % worse than the others. No link is shown to be slow."),
        ({"launches": 1}, "One launch of 16 hosts names no slow host: an interval needs more launches."),
        ({"rounds": 8}, "Links were not judged: not every pair played."),
        ({"slow": {f"node{number}": 1.3 for number in range(1, 6)}}, "; and 2 more."),
    ],
)
def test_the_words_tell_what_is_not_shown(changes, said):
    assert said in of(**changes).sentence


@pytest.mark.parametrize("hosts", [4, 64, 1000])
def test_the_matrix_has_every_pair_or_every_group_once_on_each_side(hosts):
    one = leading(hosts=hosts, slow=SLOW, rounds=0 if hosts < 100 else 45)
    chart = charts.matrix(one).to_dict()
    cells = [(row["row"], row["column"]) for row in chart["data"]["values"]]
    sides = chart["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert len(set(cells)) == len(cells) and {(b, a) for a, b in cells} == {*cells}
    if hosts <= charts.EVERY_PAIR:
        assert len(cells) == hosts * (hosts - 1) and sides[:3] == ["node1", "node2", "node3"]
        kinds = {row["kind"] for row in chart["data"]["values"] if "node3" in (row["row"], row["column"])}
        others = [row["kind"] for row in chart["data"]["values"] if "node3" not in (row["row"], row["column"])]
        assert kinds <= {"≤ 1.25", "≤ 2"} and others.count("≤ 1.05") > 0.9 * len(others)
    else:
        assert len(sides) == charts.GROUPS and sides[0] == "node1–32"
    named = chart["layer"][0]["encoding"]["y"]["axis"]["values"]
    assert one.groups["node3"] in named and len(named) <= charts.LABELS + 1


def test_a_pair_that_did_not_play_is_blank_and_a_slow_link_framed():
    rows = [row for row in tournament(6, links=LINK) if (row["host"], row["other"]) != ("node4", "node5")]
    one = charts.contests(words.Tournament(Tables.of({"pairs": rows}).pairs), {})[0]
    cells = charts.matrix(one).to_dict()["data"]["values"]
    played = {(row["row"], row["column"]) for row in cells}
    assert played.isdisjoint({("node4", "node5"), ("node5", "node4")}) and len(played) == 28
    framed = {(row["row"], row["column"]) for row in cells if row["framed"]}
    assert framed == {("node1", "node2"), ("node2", "node1")}


def test_of_many_hosts_the_slow_and_open_ones_are_shown_first_and_the_others_counted():
    one = leading(hosts=40, slow=SLOW, unsure=("node9",))
    shown = [row["host"] for row in charts.effects(one).to_dict()["data"]["values"]]
    assert (shown[:2], len(shown), one.rest) == (["node3", "node9"], 24, "; not shown: 16 alike")
    assert len(leading(hosts=24).shown) == 24 and leading(hosts=24).rest == ""


def test_hosts_of_a_switch_stand_together():
    ranks = [Rank.of({"host": host, "slurm": {TOPOLOGY: f"spine.{leaf}.{host}"}}) for host, leaf in LEAVES.items()]
    hosts = charts.contests(of(hosts=6), {rank.host: rank.switches for rank in ranks})[0].hosts
    assert hosts == ["node6", "node1", "node4", "node2", "node3", "node5"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Results with a slow host of 30, whose names occur nowhere else."""
    rows = tournament(30, {"zebra7": 1.3}, names="zebra{}")
    return campaign(rows).write(tmp_path_factory.mktemp("tournament"))


def test_section_and_terminal_begin_with_the_slow_host_and_the_section_folds_the_curves(written, capsys):
    section = str(Page(LEADS, written).experiment(mpi().experiment).data)
    opening, folded = section.split("<details>")[:2]
    assert opening.index("1 is slow") < opening.index("fig-mpi-pingpong-pairs") and "fig-mpi-pingpong-round" in folded

    terminal.show(written)
    said = " ".join(capsys.readouterr().out.split())
    assert "mpi_pingpong: Of 30 hosts in 3 launches, 1 is slow" in said and "Slow host: zebra7 is 1.30 [" in said
    assert terminal.strongest(written / "experiments/mpi_pingpong")


def unpacked(page):
    packed = specifications(page)
    assert packed
    return page + str(packed)


def test_a_published_page_names_no_host(written, tmp_path, monkeypatch):
    monkeypatch.setattr(renderer.shutil, "which", lambda name: None)
    assert "zebra7" in unpacked(str(Page(LEADS, written).experiment("mpi_pingpong").data))
    private.render(written, tmp_path / "out", renderer.origin(written, "{}"), redact=True)
    table = pq.read_table(tmp_path / "out/results/pairs.parquet").to_pylist()
    page = unpacked((tmp_path / "out/results/report/index.html").read_text())
    assert "zebra" not in page + str(table) and "host-7" in page
    names = {row["host"] for row in table}
    assert {row["other"] for row in table} - {None} < names and len(names) == 30


@pytest.mark.browser
def test_charts_are_drawn_and_no_wider_than_a_narrow_dark_page(written, open_page, monkeypatch, tmp_path):
    monkeypatch.setattr(renderer.shutil, "which", lambda name: None)
    renderer.render(written, tmp_path / "page.html")
    page = open_page(320, "dark", tmp_path / "page.html")
    figure = page.locator("#fig-mpi-pingpong-pairs")
    figure.locator("select").select_option("")
    for chart in figure.locator(".crossover-chart").all():
        chart.scroll_into_view_if_needed()
        page.wait_for_function("(chart) => chart.dataset.drawn === 'yes'", arg=chart.element_handle())
        assert chart.locator(".mark-rect path, .mark-symbol path").count() >= 3
        assert "bandwidth" in (text := chart.locator("[role=img]").get_attribute("aria-label")) or "latency" in text
    assert figure.locator(".crossover-chart").count() == 8
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
