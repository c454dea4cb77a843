"""Does a verdict on a claim have its numbers and conditions, and do all sentences change with them?"""

import json

import pytest
from campaigns import Campaign, zmq

from crossover.config import sources
from crossover.design.protocol import columns
from crossover.records import record
from crossover.report.pages.index import Page
from crossover.report.text import claims

CURVE = {
    "experiment": "zmq_throughput", "placement": "node", "protocol": "DEALER/ROUTER over ipc, 64 MB in flight",
    "metric": "throughput", "arm": "copy",
}  # fmt: skip


QUOTED = r"In its words: “a \*\~5x\* penalty” ([section 2](https://example.org/a))."


NO_NUMBER = dict.fromkeys(("published", "claimed_low", "claimed_high"))


def row(**changes):
    known = {
        "claim": "zmq-small-penalty", "source": "pyzmq", "quote": "a *~5x* penalty", "locator": "section 2",
        "url": "https://example.org/a", "says": "Zero-copy costs five times.", "kind": "ratio",
        "experiment": "zmq_throughput", "metric": "throughput", "placement": "node", "protocol": CURVE["protocol"],
        "arm": "", "verdict": "smaller here", "reason": "it lies outside", "method": "A test.", "unit": "times",
        "scale": "log", "axis_unit": "bytes", "own": "contradicts",
        "rows": json.dumps([CURVE, CURVE | {"arm": "no-copy"}]),
        "launches": 5, "numbers": 1, "value": 2.0, "low": 1.9, "high": 2.1, "expected_low": 3.3, "expected_high": 7.5,
        "published": 5.0, "claimed_low": 5.0, "claimed_high": 5.0, "derived": False, "test": None, "differs": None,
        "contradicts": "[]",
        "own_value": 2.3, "own_x": 100.0, "x": 100.0, "smallest_effect": 1.04, "resolution": 1.05,
        "at_least": False, "at_most": False, **columns({}),
    }  # fmt: skip
    assert set(known) == set(record.CLAIMS.names)
    return known | changes


def unmeasured(**changes):
    nothing = dict.fromkeys(["value", "low", "high", "smallest_effect", "resolution", "x", "scale", "arm", "at_least"])
    return row(verdict="not measured", reason="`twisted`: measured only from tier `standard` on", **nothing, **changes)


def test_a_claim_has_its_verdict_numbers_conditions_and_own_data():
    assert claims.sentences(row()) == (
        f"[`zmq-small-penalty`]{{#claim-zmq-small-penalty}}: *Zero-copy costs five times.* {QUOTED} "
        "**Smaller here**: Claimed: about "
        "5.00 times, read as 3.30 to 7.50 times; measured: 2.00 [1.90, 2.10] times. "
        "The source's own data contradicts it: 2.30 times."
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"low": None, "high": None}, "measured: 2.00 times."),
        ({"value": None, "low": None, "high": None}, "measured: none."),
        (NO_NUMBER, "Expected: 3.30 to 7.50 times; "),
        (NO_NUMBER | {"expected_high": None}, "Expected: at least 3.30 times; "),
        (NO_NUMBER | {"expected_low": None}, "Expected: at most 7.50 times; "),
        ({"claimed_low": 3.0, "claimed_high": 9.0}, "Claimed: about 3.00 to 9.00 times, read as 3.30 to 7.50 times; "),
        ({"claimed_low": 4.0, "claimed_high": None}, "Claimed: about 4.00 times or more, read as "),
        ({"claimed_low": None, "claimed_high": 7.0}, "Claimed: about 7.00 times or less, read as "),
        ({"derived": True}, "From the document's numbers: about 5.00 times, read as "),
        ({"unit": "bytes", "at_least": True, "value": 9e4, "low": 8e4, "high": 1e5}, "at least 90 [80, 100] kB"),
        ({"numbers": 7, "x": 1e5}, " at 100 kB, the least favourable of 7 numbers."),
        ({"numbers": 3, "x": None, "arm": "lru"}, " against `lru`, the least favourable of 3 numbers."),
        ({"numbers": 7, "own_x": 464.0}, "The source's own data contradicts it: 2.30 times at 464 B."),
    ],
)  # fmt: skip
def test_each_special_case_of_a_number_has_its_words(changes, words):
    assert words in claims.sentences(row(**changes))


@pytest.mark.parametrize(
    "column",
    [
        "value",
        "low",
        "high",
        "expected_low",
        "expected_high",
        "claimed_low",
        "own_value",
    ],
)
def test_every_changed_number_changes_its_sentence(column):
    changed = row(**{column: row()[column] * 1.5})
    assert claims.sentences(changed) != claims.sentences(row())


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://a b", "data:text/html,x"])
def test_an_address_that_is_no_web_address_is_no_link(url):
    (said,) = claims.paragraphs([row(url=url)])
    assert "(section 2)" in said and url not in said


def test_the_claims_are_counted_by_verdict():
    told = [
        row(),
        row(verdict="holds", own="agrees"),
        row(verdict="holds", own="no data", own_value=None),
        unmeasured(),
    ]
    assert claims.counts(told) == (
        "Of 4 published claims 2 hold, 1 is smaller here and 1 was not measured. Of 3 whose source has data of its "
        "own, 2 are contradicted by that data."
    )
    assert claims.counts([row()]).startswith("Of 1 published claim 1 is smaller here.")


def test_each_decided_claim_has_a_sentence_below_its_source_and_each_other_a_line_of_a_table(tmp_path):
    told = [
        row(),
        row(claim="b", source="the mail"),
        unmeasured(claim="sched-twisted"),
        unmeasured(claim="c", url="x:y"),
    ]
    page = Page({}, Campaign([zmq()], estimated={"claims": told}).write(tmp_path))
    first, _, rest = page.claims_told().data.partition("\n\n**the mail**\n\n")
    document = sources.read()["pyzmq"]
    assert first == (
        f"**{document.reference}** [@pyzmq]. Notebook perf/perf.ipynb of the repository zeromq/pyzmq. "
        f"Conditions: transport ipc; machine not stated.\n\n- {claims.sentences(told[0])}"
    )
    second, _, table = rest.partition("\n\n")
    assert second == f"- {claims.sentences(told[1])}"
    why = "| @pyzmq | not measured | `twisted`: measured only from tier `standard` on |"
    assert table.splitlines()[2:] == [
        f"| [`sched-twisted`](https://example.org/a){{#claim-sched-twisted}} {why}",
        f"| [`c`]{{#claim-c}} {why}",
    ]


def test_a_run_without_claims_says_so(tmp_path):
    page = Page({}, Campaign([zmq()]).write(tmp_path))
    assert page.claims().data == "No claim was judged."
    assert page.claims_told().data == ""
