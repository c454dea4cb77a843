"""Does the picture of the published claims agree with their verdicts?"""

import math

from campaigns import Campaign, zmq
from hypothesis import given
from hypothesis import strategies as st
from test_claims_table import row, unmeasured
from test_overview import Read

from crossover.report.charts import verdicts
from crossover.report.pages.index import Page


def drawn(*table):
    return Read(verdicts.picture(verdicts.judged(table)))


def marks(claim):
    return {mark["kind"]: mark for mark in claim["marks"]}


def reach(mark):
    return mark["left"], mark["left"] + mark["width"]


def test_a_claim_has_its_range_its_interval_its_bias_and_its_verdict():
    (claim,) = drawn(row(smallest_effect=1.5)).rows
    found = marks(claim)
    assert {*found} == {"range", "bias", "measured", "smaller"}
    low, high = reach(found["measured"])
    assert low < found["smaller"]["left"] < high < found["range"]["left"]
    least, most = reach(found["bias"])
    assert least < low and high < most
    assert claim["asked"] == "Zero-copy costs five times"
    assert claim["told"].strip() == "smaller here: 2.00 [1.90, 2.10] timesexpected 3.30 to 7.50 times"
    assert claim["links"] == ["#claim-zmq-small-penalty"] and found["smaller"]["tip"].endswith("(it lies outside).")


def test_two_conditions_of_a_sentence_are_one_row_with_two_numbers():
    push = row(
        claim="push", protocol="PUSH/PULL over ipc, 64 MB in flight", verdict="holds", value=4.0, low=3.8, high=4.2
    )
    (claim,) = drawn(row(), push).rows
    assert {*marks(claim)} == {"range", "bias", "measured", "smaller", "holds"}
    assert claim["told"].count("expected") == 1
    assert claim["told"].startswith("smaller here: 2.00 [1.90, 2.10] times, DEALER/ROUTER over ipc")
    assert 'href="#claim-push"' in verdicts.picture([row(), push])
    # Under one condition, two arms are two claims.
    assert len(drawn(row(), row(claim="other arm")).rows) == 2


def test_a_difference_without_bias_is_drawn():
    (claim,) = drawn(row(scale="linear", smallest_effect=0.0)).rows
    assert reach(marks(claim)["bias"]) == reach(marks(claim)["measured"])


def test_the_bias_of_a_curve_is_not_that_of_a_place_on_it():
    (claim,) = drawn(row(kind="crossover", smallest_effect=1.5)).rows
    assert reach(marks(claim)["bias"]) == reach(marks(claim)["measured"])


def test_only_judged_claims_are_drawn_and_those_of_a_source_together():
    table = [row(), row(claim="b", source="scheduler", verdict="holds"), unmeasured(claim="c"), row(claim="d")]
    assert [each["claim"] for each in verdicts.judged(table)] == ["zmq-small-penalty", "d", "b"]
    headings = drawn(*table).headings
    assert len(headings) == 2 and "pyzmq performance crossover" in headings[0]


def test_claims_that_are_not_decided_are_folded_unless_all_are():
    about = "<details><summary>1 claim that this run measured and does not decide"
    assert about in verdicts.picture(verdicts.judged([row(), row(claim="b", verdict="open")]))
    assert "<details" not in verdicts.picture(verdicts.judged([row(verdict="open")]))


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


def test_the_page_has_the_count_and_the_picture_which_leads_to_the_words(tmp_path):
    campaign = Campaign([zmq()], estimated={"claims": [row(), unmeasured(claim="b")]})
    page = Page({"zmq_throughput": "throughput"}, campaign.write(tmp_path))
    shown = page.claims().data
    assert "Of 2 published claims 1 is smaller here and 1 was not measured." in shown
    assert 'href="#claim-zmq-small-penalty"' in shown and "{#claim-zmq-small-penalty}" in page.claims_told().data


def test_without_a_judged_claim_there_is_no_picture(tmp_path):
    campaign = Campaign([zmq()], estimated={"claims": [unmeasured()]})
    assert "fig-verdicts" not in Page({"zmq_throughput": "throughput"}, campaign.write(tmp_path)).claims().data
