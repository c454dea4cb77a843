"""Does the map of a run show the winners of its tables?"""

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from campaigns import Campaign, lasting, mpi, run, steps, tasks, two_good_one_hole, zmq

from crossover.config import published
from crossover.experiments import leads
from crossover.records import failure
from crossover.records.outcome import ALIKE, OPEN
from crossover.report.base import questions
from crossover.report.glance import overview
from crossover.report.sentences.winners import Pair

LEADS = leads()


def panels(*curves, **changes):
    return run(Campaign(list(curves), **changes)).all_leading(LEADS)


def drawn(*curves, datasets=(), gaps=(), **changes):
    """The data of the only chart of these curves, and its specification."""
    found = panels(*curves, **changes)
    ((_, own),) = overview.groups(found).items()
    chart = overview.chart(own, questions.names(found), datasets, gaps).to_dict()
    return chart["data"]["values"], chart


def texts(data, kind):
    return [row["text"] for row in data if row["kind"] == kind]


def test_each_cell_has_the_side_of_its_winner_and_open_ones_have_no_colour():
    shown = steps((0.4, 0.6), (0.7, 1.4), (0.9, 1.1), (1.8, 2.2))
    data, _ = drawn(shown)
    cells = [row for row in data if "side" in row]
    pair = Pair(panels(shown)[0], "no-copy")
    assert [row["winner"] for row in cells] == [pair.winner(cell) for cell in pair.cells]
    assert [row["side"] for row in cells] == ["reference", OPEN, ALIKE, "rival"]
    assert all((row["strength"] == 0) == (row["side"] == OPEN) and row["strength"] <= 1 for row in cells)


def test_strips_are_whole_and_a_larger_factor_is_stronger():
    data, _ = drawn(zmq())
    cells = [row for row in data if "side" in row]
    assert all(left["x1"] == right["x0"] for left, right in pairwise(cells))
    assert all(row["x0"] < row["x"] < row["x1"] for row in cells)
    ahead = [row for row in cells if row["side"] == "rival"]
    assert [row["strength"] for row in ahead] == sorted(row["strength"] for row in ahead)


def test_a_crossover_has_its_place_and_interval():
    data, _ = drawn(zmq(centre=6200.0))
    (place,) = [row for row in data if row["kind"] == "crossover"]
    assert place["x0"] < place["place"] < place["x1"]
    none, _ = drawn(steps((0.4, 0.6), (0.7, 1.4)))
    assert not [row for row in none if row["kind"] == "crossover"]


def test_a_row_has_its_question_and_its_answer_under_the_name_of_its_library():
    data, _ = drawn(mpi())
    assert texts(data, "heading") == ["mpi4py"]
    assert texts(data, "question") == ["arrays: Send or send?"]
    assert texts(data, "answer") == ["Send everywhere, 1.0 to 2.4 times faster"]


def test_each_library_has_one_heading_with_its_strongest_rows_first():
    weak, strong = (zmq(f"PUSH/PULL over {name}, 64 MB in flight", slope=slope) for name, slope in WEAK_AND_STRONG)
    data, _ = drawn(weak, mpi(), strong, zmq(experiment="toy"))
    assert sorted(texts(data, "heading")) == ["Other experiments", "ZeroMQ", "mpi4py"]
    asked = texts(data, "question")
    assert asked.index("stream, ipc: no-copy or copy?") + 1 == asked.index("stream, tcp: no-copy or copy?")


WEAK_AND_STRONG = (("tcp", 0.05), ("ipc", 0.2))


def test_words_are_whole_however_long_they_are():
    data, _ = drawn(zmq(arm="an alternative with a name", reference="a reference with a rather long name"))
    asked = texts(data, "question")
    assert len(asked) > 1
    assert " ".join(asked) == "stream: an alternative with a name or a reference with a rather long name?"


def test_rows_do_not_overlap_on_a_wide_or_a_narrow_screen():
    data, chart = drawn(zmq(), mpi(), zmq("PUSH/PULL over ipc, 64 MB in flight"))
    for layout, height in (("wide", chart["usermeta"]["wide"]["height"]), ("narrow", chart["height"])):
        middles = sorted({row[f"{layout}_y"] for row in data if row["kind"] == "cell"})
        assert all(below - above >= 20 for above, below in pairwise(middles)) and middles[-1] < height
        lines = [row[f"{layout}_y"] for row in data if row["kind"] in ("heading", "question")]
        assert len(lines) == len(set(lines))


def test_a_cell_and_its_words_lead_to_the_charts_of_the_experiment():
    data, chart = drawn(zmq())
    links = {row["link"] for row in data if row["kind"] in ("cell", "question", "answer")}
    assert links == {"#fig-zmq-throughput-throughput"}
    assert {"field": "link", "type": "nominal"} in [layer["encoding"].get("href") for layer in chart["layer"]]


def test_a_published_crossover_is_hollow_and_only_under_its_conditions():
    points = [("copy", 1000.0, 2.0), ("no-copy", 1000.0, 1.0), ("copy", 100000.0, 1.0), ("no-copy", 100000.0, 2.0)]
    rows = [{"run": 1.0, "metric": "throughput", "arm": arm, "x": x, "value": value} for arm, x, value in points]
    one = published.Dataset("pyzmq", "", "", {"transport": "tcp"}, "zmq_throughput", {}, rows)
    data, _ = drawn(zmq(), datasets=[one])
    (place,) = [row for row in data if row["kind"] == "published"]
    assert place["place"] == pytest.approx(1e4) and place["tip"] == "published: 10 kB (pyzmq)"
    other = replace(one, conditions={"transport": "ipc"})
    assert not [row for row in drawn(zmq(), datasets=[other])[0] if row["kind"] == "published"]
    flat = replace(one, points=[row | {"value": 1.0 + (row["arm"] == "copy")} for row in rows])
    assert not [row for row in drawn(zmq(), datasets=[flat])[0] if row["kind"] == "published"]


def test_an_experiment_in_which_nothing_was_measured_says_so():
    gaps = overview.missing(run(two_good_one_hole()), LEADS)
    reason = "not measured; 3 launches failed: timeout, no engine registered within 60 s"
    assert gaps == [("Task farm, empty tasks", reason)]
    data, _ = drawn(zmq(), gaps=gaps)
    assert " ".join(texts(data, "answer")).endswith(reason)


def test_files_for_papers_have_no_links(tmp_path):
    results = two_good_one_hole().write_tables(tmp_path / "results")
    overview.draw(results, tmp_path / "map", LEADS)
    assert "#fig-" not in (tmp_path / "map" / "map-bytes.svg").read_text()
    assert "#fig-" in (tmp_path / "map" / "map-bytes.vl.json").read_text()


def test_arrays_and_messages_share_a_chart_in_bytes_and_other_units_have_their_own():
    found = overview.groups(panels(zmq(), mpi(), tasks("round trip"), lasting()))
    assert {unit: len(own) for unit, own in found.items()} == {"bytes": 2, "tasks": 1, "µs": 1}
    data, _ = drawn(mpi())
    assert min(row["x"] for row in data if "side" in row) == 8 * min(mpi().points)


def test_no_tick_is_below_the_smallest_measured_size():
    _, chart = drawn(zmq())
    ticks = chart["layer"][0]["encoding"]["x"]["axis"]["values"]
    assert ticks and min(ticks) >= min(zmq().points) and max(ticks) <= max(zmq().points)


def test_the_files_are_drawn_and_a_fault_leaves_its_reason(tmp_path, monkeypatch):
    results = two_good_one_hole().write_tables(tmp_path / "results")
    overview.draw(results, tmp_path / "map", LEADS)
    names = {path.name for path in (tmp_path / "map").iterdir()}
    assert {f"map-bytes.{ending}" for ending in ("vl.json", "svg", "pdf", "png")} <= names
    told = json.loads((tmp_path / "map" / "map-bytes.vl.json").read_text())
    assert told["usermeta"]["wide"]["height"] < told["height"]
    assert "no engine registered" in (tmp_path / "map" / "map-bytes.svg").read_text()
    monkeypatch.setattr(overview, "chart", lambda *_: 1 / 0)
    overview.draw(results, tmp_path / "broken", LEADS)
    assert "division by zero" in failure.of(tmp_path / "broken")[0].error


def test_an_experiment_without_its_leading_metric_is_drawn_as_on_the_page(tmp_path):
    campaign = Campaign([tasks("submission"), zmq()])
    overview.draw(campaign.write_tables(tmp_path / "results"), tmp_path / "map", LEADS)
    shown = overview.groups(run(campaign).all_leading(LEADS))
    assert set(shown) == {"tasks", "bytes"}
    assert all((tmp_path / "map" / f"{overview.file(unit)}.vl.json").exists() for unit in shown)


@pytest.mark.parametrize("nothing", [Campaign([]), Campaign([zmq(launches=1)])])
def test_without_an_interval_nothing_is_decided(nothing):
    found = run(nothing).all_leading(LEADS)
    for own in overview.groups(found).values():
        data = overview.chart(own, questions.names(found)).to_dict()["data"]["values"]
        assert {row["side"] for row in data if row["kind"] == "cell"} == {OPEN}
