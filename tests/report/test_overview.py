"""Does the map of a run show the winners of its tables?"""

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from campaigns import Campaign, lasting, mpi, run, steps, tasks, two_good_one_hole, zmq

from crossover.config import published
from crossover.experiments import leads
from crossover.records.outcome import ALIKE, OPEN
from crossover.report.charts import arm_styles, gallery
from crossover.report.glance import overview
from crossover.report.sentences.winners import Pair, pairs

LEADS = leads()
IPC = "PUSH/PULL over ipc, 64 MB in flight"


class Read(HTMLParser):
    """The rows, headings and marks of a map."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.headings, self.marks, self.within = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        kinds = (known.get("class") or "").split()
        if tag == "tr" and known.get("id"):
            self.rows.append({"id": known["id"], "asked": "", "told": "", "links": [], "marks": []})
        if tag in ("th", "td"):
            kind = {"rowgroup": "heading", "row": "asked"}.get(known.get("scope"), "told" if "told" in kinds else "")
            self.within = kind if self.rows or kind == "heading" else ""
            self.headings += [""] * (kind == "heading")
        if self.rows and "left" in (known.get("style") or "") and kinds[0] in ("cell", "point"):
            places = dict(re.findall(r"(left|width):([\d.]+)%", known["style"]))
            mark = {
                "kind": kinds[1],
                "colour": kinds[2:],
                "tip": known.get("title"),
                "style": known["style"],
                "tag": tag,
            }
            self.rows[-1]["marks"].append(mark | {name: float(value) for name, value in places.items()})
        if tag == "a" and self.within == "asked":
            self.rows[-1]["links"].append(known["href"])
        if "tools" in kinds:
            self.within = ""

    def handle_data(self, data):
        if self.within == "heading":
            self.headings[-1] += data
        elif self.within:
            self.rows[-1][self.within] += data


def panels(*curves, **changes):
    return run(Campaign(list(curves), **changes)).all_leading(LEADS)


def drawn(*curves, **changes):
    return Read(overview.picture(panels(*curves, **changes)))


def sides(row):
    return [mark for mark in row["marks"] if mark["kind"] in ("rival", "reference", ALIKE, OPEN)]


def test_each_cell_has_the_side_and_the_colour_of_its_winner():
    shown = steps((0.4, 0.6), (0.7, 1.4), (0.9, 1.1), (1.8, 2.2))
    (row,) = drawn(shown).rows
    assert [cell["kind"] for cell in sides(row)] == ["reference", OPEN, ALIKE, "rival"]
    looks = arm_styles.of(panels(shown)[0])
    colours = [looks[arm].colour.name for arm in ("copy", "no-copy")]
    assert [cell["colour"] for cell in sides(row)] == [[colours[0]], [], [], [colours[1]]]


def test_a_cell_says_its_place_ratio_winner_and_launches():
    (row,) = drawn(steps((0.4, 0.6), (0.7, 1.4))).rows
    first, second = (cell["tip"] for cell in sides(row))
    assert first == "100 B: no-copy / copy 0.490 [0.400, 0.600], copy is better; 3 launches"
    assert second.endswith(f"{OPEN}; 3 launches")


def test_strips_are_whole_from_the_first_point_to_the_last_and_a_larger_factor_is_stronger():
    (row,) = drawn(zmq()).rows
    cells = sides(row)
    ends = [(cell["left"], cell["left"] + cell["width"]) for cell in cells]
    assert all(left[1] == pytest.approx(right[0], abs=0.03) for left, right in pairwise(ends))
    assert ends[0][0] == 0 and ends[-1][1] == pytest.approx(100, abs=0.03)
    shares = [int(re.search(r"--share:(\d+)", cell["style"])[1]) for cell in cells if cell["kind"] == "rival"]
    assert shares == sorted(shares)
    assert overview.share(1e6) == overview.share(8) == overview.STRONGEST


def test_a_crossover_has_its_place_and_interval():
    (row,) = drawn(zmq(centre=6200.0)).rows
    (place,), (interval,) = ([m for m in row["marks"] if m["kind"] == kind] for kind in ("crossover", "interval"))
    assert interval["left"] < place["left"] < interval["left"] + interval["width"]
    assert "crossover: 6.2 kB" in place["tip"]
    (row,) = drawn(steps((0.4, 0.6), (0.7, 1.4))).rows
    assert not [mark for mark in row["marks"] if mark["kind"] == "crossover"]


def test_a_row_has_its_question_and_its_answer_under_the_name_of_its_library():
    found = drawn(mpi())
    assert found.headings == ["mpi4py"]
    assert found.rows[0]["asked"] == "Arrays: Send or send"
    assert found.rows[0]["told"].strip() == "Send everywhere, 1.0 to 2.4 times faster"


def test_each_library_has_one_heading():
    found = drawn(zmq(IPC, slope=0.2), mpi(), zmq(slope=0.05), zmq(experiment="toy"))
    assert sorted(found.headings) == ["Other experiments", "ZeroMQ", "mpi4py"]


def test_a_row_leads_to_its_own_curve():
    found = overview.pairs(panels(zmq(), zmq(IPC)))
    rows = drawn(zmq(), zmq(IPC)).rows
    for pair in found:
        (row,) = [row for row in rows if row["id"] == overview.address(pair)]
        assert row["links"] == [f"#{gallery.address(pair.panel)}"] and {cell["tag"] for cell in sides(row)} == {"a"}
    assert len({gallery.address(pair.panel) for pair in found}) == 2


def test_the_first_rows_are_the_plainest_decided_pairs_of_each_library():
    obscure = steps((5.0, 6.0), (5.0, 6.0), experiment="zmq_message_size")
    curves = [zmq(IPC), zmq(), mpi(), obscure, tasks("round trip"), lasting()]
    chosen = overview.first(pairs(panels(*curves)))
    named = [(pair.panel.experiment, "ipc" in pair.panel.title) for pair in chosen]
    assert named[0] == ("zmq_throughput", False)
    assert [name for name, _ in named[1:3]] == ["mpi_pingpong", "task_latency"]
    assert {name for name, _ in named[3:5]} == {"zmq_throughput", "task_map"}
    assert named[-1][0] == "zmq_message_size"
    many = [zmq(f"PUSH/PULL over tcp, {n} MB in flight") for n in range(1, 12)]
    text = overview.picture(panels(*many))
    assert text.index("<details><summary>All rows: 5 more</summary>") > text.index("<table")
    assert len(Read(text).rows) == 11


def test_a_published_crossover_is_hollow_and_only_under_its_conditions(monkeypatch):
    points = [("copy", 1000.0, 2.0), ("no-copy", 1000.0, 1.0), ("copy", 100000.0, 1.0), ("no-copy", 100000.0, 2.0)]
    rows = [{"run": 1.0, "metric": "throughput", "arm": arm, "x": x, "value": value} for arm, x, value in points]
    one = published.Dataset("pyzmq", "", "", {"transport": "tcp"}, "zmq_throughput", {}, rows)

    def tips(dataset):
        monkeypatch.setattr(published, "read", lambda: [dataset])
        return [mark["tip"] for row in drawn(zmq()).rows for mark in row["marks"] if mark["kind"] == "published"]

    assert tips(one) == ["published: 10 kB (pyzmq)"]
    assert tips(replace(one, conditions={"transport": "ipc"})) == []
    assert tips(replace(one, points=[row | {"value": 1.0 + (row["arm"] == "copy")} for row in rows])) == []


def test_an_experiment_in_which_nothing_was_measured_says_so():
    gaps = overview.missing(run(two_good_one_hole()), LEADS)
    reason = "not measured; 3 launches failed: timeout, no engine registered within 60 s"
    assert gaps == [("Task farm, empty tasks", reason)]
    assert reason in overview.picture(panels(zmq()), gaps)


def test_arrays_and_messages_share_an_axis_in_bytes_and_other_units_have_their_own():
    found = overview.groups(pairs(panels(zmq(), mpi(), tasks("round trip"), lasting())))
    counts = {unit: sum(map(len, own.values())) for unit, own in found.items()}
    assert counts == {"bytes": 2, "tasks": 1, "µs": 1}


def test_a_hostile_name_is_only_text():
    text = overview.picture(panels(zmq(arm='<b onclick="x">"')))
    assert "<b onclick" not in text and "&lt;b onclick" in text


@pytest.mark.parametrize("nothing", [[], [zmq(launches=1)]])
def test_without_an_interval_nothing_is_decided(nothing):
    assert {cell["kind"] for row in drawn(*nothing).rows for cell in sides(row)} <= {OPEN}
    assert all(isinstance(pair, Pair) for pair in overview.first(pairs(panels(*nothing))))
