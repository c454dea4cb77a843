"""Does the picture of the published claims agree with their verdicts?"""

import math

import pytest
from campaigns import Campaign, zmq
from hypothesis import given
from hypothesis import strategies as st
from test_claims_table import row, unmeasured

from crossover.records import failure
from crossover.report.glance import verdicts
from crossover.report.pages.index import Page


def data(*table):
    return verdicts.chart(verdicts.judged(table)).to_dict()["data"]["values"]


def test_a_claim_has_its_range_its_interval_and_its_verdict():
    values = data(row())
    (claim,), (expected,) = ([each for each in values if each["kind"] == kind] for kind in ("claim", "range"))
    assert (claim["verdict"], claim["place"], claim["x0"], claim["x1"]) == (
        "refuted",
        *map(pytest.approx, (0.4, 0.38, 0.42)),
    )
    assert (expected["x0"], expected["x1"]) == (pytest.approx(3.3 / 5), pytest.approx(1.5))
    words = " ".join(each["text"] for each in values if each["kind"] in ("question", "answer"))
    assert words == "Zero-copy costs five times refuted: 2.00 [1.90, 2.10] times expected 3.30 to 7.50 times"
    assert claim["link"] == "#sec-told"


def test_only_judged_claims_are_drawn_and_those_of_a_source_together():
    table = [row(), row(claim="b", source="scheduler", verdict="holds"), unmeasured(claim="c"), row(claim="d")]
    assert [each["claim"] for each in verdicts.judged(table)] == ["zmq-small-penalty", "d", "b"]
    headings = [each["text"] for each in data(*table) if each["kind"] == "heading"]
    assert len(headings) == 2 and "pyzmq performance crossover" in headings[0]


ENDS = st.floats(0.1, 30)


@given(ENDS, ENDS, ENDS, st.booleans(), st.sampled_from(["both", "low", "high"]))
def test_a_number_is_drawn_inside_the_range_exactly_if_it_is_inside(value, one, other, around_zero, known):
    low, high = sorted((one, other))
    if high < 1.01 * low:
        return
    if around_zero and known == "both":
        low = -low
    ends = {"expected_low": low if known != "high" else None, "expected_high": high if known != "low" else None}
    claim = row(published=None, value=value, **ends)
    left, right = (None if end is None else verdicts.scaled(claim, end) for end in ends.values())
    place = verdicts.scaled(claim, value)
    inside = (left is None or left <= place) and (right is None or place <= right)
    near = any(end is not None and math.isclose(end, value, rel_tol=1e-6) for end in ends.values())
    assert near or inside == ((ends["expected_low"] or -math.inf) <= value <= (ends["expected_high"] or math.inf))


def test_the_page_has_the_count_the_picture_and_the_folded_table(tmp_path):
    campaign = Campaign([zmq()], estimated={"claims": [row(), unmeasured(claim="b")]})
    shown = Page({"zmq_throughput": "throughput"}, campaign.write(tmp_path)).claims().data
    assert "Of 2 published claims 1 is refuted and 1 was not measured." in shown
    assert shown.index("#fig-verdicts") < shown.index("<details><summary>All claims in a table")
    assert "Zero-copy costs five times: refuted: 2.00 [1.90, 2.10] times, expected 3.30 to 7.50 times." in shown
    assert {path.suffix for path in (tmp_path / "figures" / "verdicts").iterdir()} == {".json", ".svg", ".pdf", ".png"}


def test_without_a_judged_claim_there_is_no_picture(tmp_path):
    campaign = Campaign([zmq()], estimated={"claims": [unmeasured()]})
    shown = Page({"zmq_throughput": "throughput"}, campaign.write(tmp_path)).claims().data
    assert "fig-verdicts" not in shown and "<details open>" in shown
    assert list((tmp_path / "figures" / "verdicts").iterdir()) == []


def test_a_fault_leaves_its_reason(tmp_path, monkeypatch):
    results = Campaign([zmq()], estimated={"claims": [row()]}).write_tables(tmp_path)
    monkeypatch.setattr(verdicts, "chart", lambda *_: 1 / 0)
    verdicts.draw(results, tmp_path / "figures" / "verdicts")
    assert "division by zero" in failure.of(tmp_path / "figures" / "verdicts")[0].error
