"""Does the map of a run show the winners of its tables?"""

import json
from itertools import pairwise

import pytest
from campaigns import Campaign, lasting, mpi, run, tasks, two_good_one_hole, zmq

from crossover.config.leads import leads
from crossover.records import failure
from crossover.report.base import questions
from crossover.report.charts import overview
from crossover.report.sentences.winners import OPEN, Pair

LEADS = leads()


def panels(*curves, **changes):
    return run(Campaign(list(curves), **changes)).all_leading(LEADS)


def drawn(*curves, **changes):
    """The data of the strips, words and crossovers of the only chart of these curves, and its specification."""
    found = panels(*curves, **changes)
    ((_, own),) = overview.groups(found).items()
    chart = overview.chart(own, questions.names(found)).to_dict()
    own = [layer.get("data", {}).get("values", []) for layer in chart["layer"]]
    return [*chart["data"]["values"], *own[2], *own[4]], chart


def test_each_cell_has_the_side_of_its_winner_and_open_ones_have_no_colour():
    data, _ = drawn(zmq(), half_width=0.1)
    cells = [row for row in data if "side" in row]
    pair = Pair(panels(zmq(), half_width=0.1)[0], "no-copy")
    sides = {"no-copy": "rival", "copy": "reference", OPEN: OPEN}
    assert [row["side"] for row in cells] == [sides[pair.winner(cell)] for cell in pair.cells]
    assert {row["side"] for row in cells} == {"rival", "reference", OPEN}
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
    (place,) = [row for row in data if "place" in row]
    assert place["x0"] < place["place"] < place["x1"]
    none, _ = drawn(zmq(verdict="none"))
    assert not [row for row in none if "place" in row]


def test_a_strip_has_its_question_and_its_answer():
    data, _ = drawn(mpi())
    assert [row["text"] for row in data if "text" in row][::-1] == [
        "mpi4py arrays: Send or send?", "Send everywhere, 1.0 to 2.4 times faster",
    ]  # fmt: skip


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
    assert json.loads((tmp_path / "map" / "map-bytes.vl.json").read_text())["height"] == 3 * overview.ROW
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
        assert {row["side"] for row in data} == {OPEN}
