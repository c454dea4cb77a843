"""Does the map of a run show the choices of its tables?"""

import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from campaigns import Campaign, lasting, mpi, run, steps, tasks, two_good_one_hole, zmq

from crossover.records.outcome import OPEN
from crossover.report.charts import arm_styles, gallery, overview, strips
from crossover.report.text import choices

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


def tables(*curves, **changes):
    return run(Campaign(list(curves), **changes))


def drawn(*curves, **changes):
    return Read(overview.picture(tables(*curves, **changes)))


def cells(row):
    return [mark for mark in row["marks"] if mark["kind"] in ("chosen", OPEN)]


def test_each_cell_has_the_colour_of_its_choice_and_open_ones_their_guarantee():
    shown = steps((0.4, 0.6), (0.7, 1.5), (0.95, 1.1), (1.8, 2.2))
    found = drawn(shown)
    assert [cell["kind"] for cell in cells(found.rows[0])] == ["chosen", OPEN, "chosen", "chosen"]
    looks = arm_styles.of(tables(shown).panels("zmq_throughput")[0])
    expected = [[looks[row.choice].colour.name] for row in tables(shown).choices]
    assert [cell["colour"] for cell in cells(found.rows[0])] == expected
    assert "≤1." in overview.picture(tables(shown))


def test_a_cell_says_its_place_choice_cost_and_launches():
    (row,) = drawn(steps((0.4, 0.6), (0.7, 1.5))).rows
    first, second = (cell["tip"] for cell in cells(row))
    assert first == "100 B: copy, surely the best; observed 2.04 times as good as no-copy; 3 launches"
    assert " times worse than the best; " in second


def test_strips_are_whole_from_the_first_point_to_the_last_and_a_larger_factor_is_stronger():
    (row,) = drawn(zmq()).rows
    ends = [(cell["left"], cell["left"] + cell["width"]) for cell in cells(row)]
    assert all(left[1] == pytest.approx(right[0], abs=0.03) for left, right in pairwise(ends))
    assert ends[0][0] == 0 and ends[-1][1] == pytest.approx(100, abs=0.03)
    assert overview.share(1.2) < overview.share(3) < overview.share(1e6) == overview.share(8) == overview.STRONGEST


def test_a_boundary_between_choices_has_its_place():
    (row,) = drawn(zmq(centre=6200.0)).rows
    (place,) = (mark for mark in row["marks"] if mark["kind"] == "crossover")
    assert "crossover: 6.8 kB" in place["tip"]
    (row,) = drawn(steps((0.4, 0.6), (0.4, 0.6))).rows
    assert not [mark for mark in row["marks"] if mark["kind"] == "crossover"]


def test_the_colour_changes_at_the_boundary_and_fades_over_its_interval():
    told = tables(zmq(centre=6200.0))
    scale = strips.Scale(told.choices[0].x, told.choices[-1].x)
    for begins, place in ((9e3, 9e3), (None, math.sqrt(5e3 * 9.8e3))):
        changes = {"begins": begins, "begins_low": 5e3, "begins_high": 9.8e3}
        moved = [replace(row, **changes) if row.begins else row for row in told.choices]
        (row,) = Read(overview.picture(replace(told, choices=moved))).rows
        before, after = next(pair for pair in pairwise(cells(row)) if pair[0]["colour"] != pair[1]["colour"])
        assert after["left"] == pytest.approx(scale.place(place), abs=0.02)
        assert "--right:color-mix" in before["style"] and "--left:color-mix" in after["style"]


def test_a_row_has_its_question_and_its_answer_under_the_name_of_its_library():
    found = drawn(mpi())
    assert found.headings == ["mpi4py"]
    assert found.rows[0]["asked"] == "Arrays, fresh memory"
    assert found.rows[0]["told"].strip() == "Send everywhere; surely the best"
    assert sorted(drawn(zmq(IPC, slope=0.2), mpi(), zmq(slope=0.05)).headings) == ["ZeroMQ", "mpi4py"]


def test_a_row_leads_to_its_own_curve():
    found = choices.curves(tables(zmq(), zmq(IPC)))
    rows = drawn(zmq(), zmq(IPC)).rows
    for question in found:
        (row,) = [row for row in rows if row["id"] == overview.address(question)]
        assert row["links"] == [f"#{gallery.address(question.panel)}"]
        assert {cell["tag"] for cell in cells(row)} == {"a"}
    assert len({gallery.address(question.panel) for question in found}) == 2


def test_the_first_rows_are_the_plainest_curves_of_what_most_people_ask():
    found = choices.curves(tables(zmq(IPC), zmq(), tasks("round trip"), lasting(), mpi()))
    assert [(question.panel.experiment, "ipc" in question.panel.title) for question in found] == [
        ("mpi_pingpong", False), ("zmq_throughput", False), ("task_map", False), ("task_latency", False),
        ("zmq_throughput", True),
    ]  # fmt: skip
    many = [zmq(f"PUSH/PULL over tcp, {n} MB in flight") for n in range(1, 12)]
    text = overview.picture(tables(*many))
    assert text.index("<details><summary>All rows: 5 more</summary>") > text.index("<table")
    assert len(Read(text).rows) == 11


def test_an_experiment_in_which_nothing_was_measured_says_so():
    gaps = overview.missing(run(two_good_one_hole()))
    reason = "not measured; 3 launches failed: timeout, no engine registered within 60 s"
    assert gaps == [("Empty tasks on a farm", reason)]
    assert reason in overview.picture(tables(zmq()), gaps)


def test_arrays_and_messages_share_an_axis_in_bytes_and_other_units_have_their_own():
    found = overview.groups(choices.curves(tables(zmq(), mpi(), tasks("round trip"))))
    assert {unit: sum(map(len, own.values())) for unit, own in found.items()} == {"bytes": 2, "tasks": 1}


def test_a_hostile_name_is_only_text():
    text = overview.picture(tables(zmq(arm='<b onclick="x">"')))
    assert "<b onclick" not in text and "&lt;b onclick" in text


@pytest.mark.parametrize("nothing", [[], [zmq(launches=1)]])
def test_without_an_interval_there_is_no_map(nothing):
    assert overview.picture(tables(*nothing)) == ""
