"""Do the pictures and sentences on choices, crossovers and claims agree with the tables, and stay text?"""

import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from campaigns import KEPT, Campaign, claim, recommendation, run, steps, zmq
from hypothesis import given
from hypothesis import strategies as st
from surfaces import BETTER, STANDINGS, WORSE

from crossover.records.outcome import OPEN, SAFER, SETTLED, SURE, WINNER
from crossover.records.rows import Choice, Claim, Recommendation
from crossover.report.charts import overview, strips, verdicts
from crossover.report.text import choices, claims, findings, recommendations


class Read(HTMLParser):
    """The rows and marks of a map."""

    def __init__(self, text):
        super().__init__()
        self.rows = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        facts = dict(attributes)
        if tag == "tr" and facts.get("id"):
            self.rows.append({"id": facts["id"], "marks": []})
        kinds, style = facts.get("class", "").split(), facts.get("style", "")
        if self.rows and "left" in style and kinds[0] in ("cell", "point"):
            places = {name: float(value) for name, value in re.findall(r"(left|width):([\d.]+)%", style)}
            mark = {"kind": kinds[1], "colour": kinds[2:], "tip": facts.get("title"), "style": style}
            self.rows[-1]["marks"].append(mark | places)


def tables(*curves):
    return run(Campaign(list(curves)))


def cells(row):
    return [mark for mark in row["marks"] if mark["kind"] in ("chosen", OPEN)]


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


def test_a_hostile_name_is_only_text():
    text = overview.picture(tables(zmq(arm='<b onclick="x">"')))
    assert "<b onclick" not in text and "&lt;b onclick" in text


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://a b", "data:text/html,x"])
def test_an_address_that_is_no_web_address_is_no_link(url):
    said = claims.table([Claim.of(claim(url=url))])
    assert "`{}`]{{#".format(claim()["claim"]) in said and url not in said


def test_what_is_not_decided_is_folded_unless_nothing_is_decided():
    about = "<details><summary>1 claim that this run measured and does not decide"
    assert about in verdicts.picture([*map(Claim.of, (claim(), claim(claim="b", verdict="open")))])
    assert "<details" not in verdicts.picture([Claim.of(claim(verdict="open"))])
    for rows, words in (([recommendation()], "<details>"), ([], "<details open>")):
        rows = [*rows, recommendation(**KEPT, protocol="PUSH/PULL over ipc, 64 MB in flight")]
        shown = recommendations.section(replace(tables(zmq()), recommendations=[*map(Recommendation.of, rows)]))
        assert f"{words}<summary>Leave at the default: 1 setting without" in shown


ENDS = st.floats(0.1, 30)


@given(ENDS, ENDS, ENDS, st.booleans(), st.sampled_from(["both", "low", "high"]))
def test_a_number_is_drawn_inside_the_range_exactly_if_it_is_inside(value, one, other, around_zero, ends):
    low, high = sorted((one, other))
    if high < 1.01 * low:
        return
    if around_zero and ends == "both":
        low = -low
    reach = {"expected_low": low if ends != "high" else None, "expected_high": high if ends != "low" else None}
    row = Claim.of(claim(published=None, value=value, **reach))
    left, right = (None if end is None else verdicts.scaled(row, end) for end in reach.values())
    place = verdicts.scaled(row, value)
    inside = (left is None or left <= place) and (right is None or place <= right)
    near = any(end is not None and math.isclose(end, value, rel_tol=1e-6) for end in reach.values())
    assert near or inside == ((reach["expected_low"] or -math.inf) <= value <= (reach["expected_high"] or math.inf))


@given(STANDINGS)
def test_no_sentence_contradicts_a_point_of_its_table(intervals):
    shown = tables(steps(*intervals)).panels("zmq_throughput")[0]
    words = findings.verdict(shown, "no-copy")
    if shown.crossover_of("no-copy").verdict in ("always", "none"):
        assert ("faster" in words) == (BETTER in intervals) and ("slower" in words) == (WORSE in intervals)


def chosen(x, arm, verdict, change=None):
    facts = dict.fromkeys(Choice.schema().names) | {"experiment": "toy", "protocol": "p", "placement": "node"}
    place = {"metric": "m", "axis_unit": "bytes", "x": x, "begins": x if change == SURE else None}
    return Choice.of(facts | place | {"choice": arm, "verdict": verdict, "change": change})


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (OPEN, "A, from 1 kB B, open from 10 kB on"),
        (SETTLED, "A, from 1 kB B, C is safer from 10 kB on, open from 100 kB on"),
    ],
)
def test_of_many_changes_only_those_to_open_parts_are_one_word(last, words):
    along = [chosen(100, "A", WINNER), chosen(1000, "B", WINNER, SURE), chosen(10_000, "C", last, SAFER)]
    question = choices.Question("q", None, (*along, chosen(100_000, "D", OPEN, SAFER)), "q")
    assert choices.plain(question.words) == words
