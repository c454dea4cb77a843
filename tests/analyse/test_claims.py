"""Is every claim judged by a run's tables, and does it name the remedy for missing measurements?"""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from judged import X, louder, medians, shipped, sides, write
from possible import field

from crossover.analyse.claims import judgement
from crossover.analyse.claims.candidates import of_source
from crossover.analyse.claims.quantities import find
from crossover.analyse.estimates.curve import NAMES
from crossover.config import claim_list, published
from crossover.records import record
from crossover.report.text import claims as told

HIGHER = {"task_latency": [{"tier": "standard", "arms": ["leastload", "twisted"], "low": 8, "high": 1024}]}


@pytest.fixture(scope="module")
def rows():
    return list(medians(shipped()))


def judge(folder, rows, *, higher=HIGHER, these=None, effect=1.01):
    judgement.write(these or shipped(), write(folder, rows, effect), higher)
    return {row["claim"]: row for row in record.read(folder / "claims.parquet", record.CLAIMS).to_pylist()}


def test_every_claim_has_a_verdict_if_everything_was_measured(tmp_path, rows):
    found = judge(tmp_path, rows)
    assert list(found) == [claim["claim"] for claim in shipped()]
    assert {row["verdict"] for row in found.values()} <= {*told.DECIDED, "open", "not comparable here"}
    for row in found.values():
        assert row["reason"]
        assert row["launches"] == 5
        assert json.loads(row["rows"])


def test_values_from_the_sources_own_data_agree_with_those_by_hand():
    """The numbers from the documents' own data, calculated by hand."""
    known = {
        "zmq-small-penalty": 2.3, "zmq-large-win": 0.91, "zmq-small-max": 2.0, "zmq-send-large": 44,
        "zmq-send-small": 9.0, "zmq-send-penalty": 5, "zmq-memcpy": 252, "ipp-small-task": 0.076,
        "ipp-large-task": 0.958, "vsm-gain": 1.29, "mpi-speedup": 2.45,
    }  # fmt: skip
    for claim in shipped():
        if claim["claim"] in known:
            row = judgement._of_source(claim, of_source(published.read(), claim["source"]))
            assert row["own_value"] == pytest.approx(known[claim["claim"]], rel=0.03), claim["claim"]


def test_the_verdict_of_a_sources_own_data_needs_no_measurement(tmp_path, rows):
    found = judge(tmp_path, [row for row in rows if row["experiment"] != "zmq_throughput"])
    assert found["zmq-small-penalty"]["verdict"] == "not measured"
    assert found["zmq-small-penalty"]["own"] == "contradicts"
    assert found["zmq-send-small"]["own"] == "agrees"
    assert found["sched-pure"]["own"] == "no data"


def test_the_published_crossover_is_between_two_published_points():
    (claim,) = (claim for claim in shipped() if claim["claim"] == "zmq-crossover")
    source = of_source(published.read(), claim["source"])
    assert 464_158 < judgement._of_source(claim, source)["own_value"] < 1_000_000
    assert find(source, claim["quantity"]).known.story == "only one launch measured it"


def without(rows, **facts):
    return [row for row in rows if not all(row[name] == value for name, value in facts.items())]


@pytest.mark.parametrize(
    ("missing", "claim", "reason"),
    [
        ({"experiment": "mpi_pingpong"}, "mpi-speedup", "`mpi_pingpong` has no launch in this run"),
        ({"arm": "twisted"}, "sched-twisted", "`twisted`: measured only from tier `standard` on"),
        ({"arm": "64 B union"}, "vsm-gain", "`64 B union`: not among the `arms` of `zmq_message_size`"),
        ({"metric": "send rate"}, "zmq-memcpy", "`copy`: no valid value of send rate with `pattern: DEALER/ROUTER, "),
    ],
)
def test_an_unmeasured_claim_gives_the_reason_and_the_remedy(tmp_path, rows, missing, claim, reason):
    row = judge(tmp_path, without(rows, **missing))[claim]
    assert reason in row["reason"]
    assert row["verdict"] == "not measured"
    assert row["value"] is None


def test_an_experiment_that_the_tier_leaves_out_names_the_tier_that_measures_it(tmp_path, rows):
    tiers = [{"tier": "standard", "arms": ["pure", "twisted"], "low": 8, "high": 1024}]
    row = judge(tmp_path, without(rows, experiment="task_latency"), higher={"task_latency": tiers})["sched-twisted"]
    assert "measured only from tier `standard` on (`--config tier=standard`)" in row["reason"]
    assert row["verdict"] == "not measured"


def test_a_key_that_no_curve_has_is_named(tmp_path, rows):
    (claim,) = (claim for claim in shipped() if claim["claim"] == "mpi-speedup")
    moved = claim | {"quantity": claim["quantity"] | {"where": {"polled": False}}}
    assert judge(tmp_path, rows, these=[moved])["mpi-speedup"]["reason"] == (
        "not measured under its conditions: `mpi_pingpong` has no curve with `polled: false`"
    )


def test_an_axis_that_is_too_short_names_the_tier_with_a_longer_one(tmp_path, rows):
    short = [row for row in rows if row["experiment"] != "task_latency" or row["x"] < 200]
    row = judge(tmp_path, short)["sched-twisted-512"]
    assert row["verdict"] == "not measured"
    assert row["reason"].startswith("the axis goes from 1 to ")
    assert "without 512; it is measured from tier `standard` on (`--config tier=standard`)" in row["reason"]
    row = judge(tmp_path, short, higher={})["sched-twisted-512"]
    assert "also in every higher tier; add it to the axis of `task_latency`" in row["reason"]


def test_launches_that_left_only_holes_give_the_first_reason(tmp_path, rows):
    write(tmp_path, without(rows, experiment="mpi_pingpong"))
    hole = {
        "experiment": "mpi_pingpong",
        "placement": "node",
        "outcome": "hole",
        "hole": "timeout",
        "reason": "too slow",
    }
    table = record.read(tmp_path / "launches.parquet", record.LAUNCHES).to_pylist()
    record.write(pa.Table.from_pylist([*table, hole], record.LAUNCHES), tmp_path / "launches.parquet")
    judgement.write(shipped(), tmp_path, {})
    found = {row["claim"]: row for row in record.read(tmp_path / "claims.parquet", record.CLAIMS).to_pylist()}
    assert found["mpi-speedup"]["reason"] == "all its launches are holes, the first because of `timeout: too slow`"


def test_a_claim_across_hosts_waits_for_a_cluster(tmp_path, rows):
    (claim,) = (claim for claim in shipped() if claim["claim"] == "zmq-small-penalty")
    moved = claim | {"quantity": claim["quantity"] | {"placement": "nodes"}}
    assert "needs a cluster" in judge(tmp_path, rows, these=[moved])["zmq-small-penalty"]["reason"]


def test_a_new_claim_is_one_block_and_is_judged(tmp_path, rows):
    file = tmp_path / "claims.yaml"
    file.write_text(
        claim_list.FILE.read_text()
        + """
  new:
    source: tutorial
    quote: Send is faster
    locator: last text
    says: A pickle is slower than a buffer.
    quantity: {kind: ratio, experiment: mpi_pingpong, where: {object: float64 array, player: engine},
      metric: round trip, arm: send, over: Send, at: 3162.27766}
    expected: {low: 1}
"""
    )
    found = judge(tmp_path, rows, these=claim_list.read(file))
    assert len(found) == len(shipped()) + 1
    sent = [row for row in rows if row["arm"] == "send" and row["player"] == "engine"]
    ratios = [row["ratio"] for row in sent if row["x"] == pytest.approx(3162.27766)]
    assert found["new"]["value"] == pytest.approx(np.exp(np.mean(np.log(ratios))))
    assert found["new"]["verdict"] in told.DECIDED


@pytest.mark.long
def test_one_launch_decides_no_claim(tmp_path, rows):
    alone = judge(tmp_path, [row for row in rows if row["launch"] == 1])
    assert {row["verdict"] for row in alone.values()}.isdisjoint(told.DECIDED)


@pytest.mark.long
def test_no_claim_is_decided_if_equal_arms_differ_widely(tmp_path, rows):
    loud = judge(tmp_path, rows, effect=1e9)
    concluded = {row["kind"] for row in loud.values() if row["verdict"] in told.DECIDED}
    assert concluded <= {"crossover", "crossovers"}


@pytest.mark.long
def test_a_changed_curve_changes_exactly_the_sentences_that_depend_on_it(tmp_path, rows):
    field = judgement.measured(write(tmp_path, rows), {})
    nothing = of_source([], "")

    def said(curves, experiment):
        about = [claim for claim in shipped() if experiment in json.dumps(claim["quantity"])]
        changed = replace(field, curves=curves)
        return {claim["claim"]: as_read(judgement.row(claim, changed, nothing)) for claim in about}

    followed = set()
    before = {name: said(field.curves, name) for name in {curve.facts["experiment"] for curve in field.curves}}
    for curve in field.curves:
        after = said(louder(field.curves, curve), curve.facts["experiment"])
        name = {key: curve.facts[key] for key in NAMES}
        for claim, row in before[curve.facts["experiment"]].items():
            rests = name in json.loads(row["rows"])
            same = told.sentences(row) == told.sentences(after[claim])
            assert rests or same, f"{claim} follows {name}"
            # A claim shows only one of several numbers, and none if the arms do not cross.
            if rests and row["numbers"] == 1 and row["value"] is not None:
                assert not same, f"{claim} does not follow {name}"
                followed.add(claim)
    assert len(followed) > 25


def as_read(row):
    """A row like the report reads it from the table."""
    known = {key: None if isinstance(value, float) and np.isnan(value) else value for key, value in row.items()}
    return dict.fromkeys(record.CLAIMS.names) | known


def test_a_claim_that_no_experiment_can_decide_is_listed_with_the_reason(tmp_path, rows):
    judgement.write(shipped(), write(tmp_path, rows), HIGHER, claim_list.unjudged())
    found = {row["claim"]: row for row in record.read(tmp_path / "claims.parquet", record.CLAIMS).to_pylist()}
    assert len(found) == len(shipped()) + len(claim_list.unjudged())
    row = found["vsm-memory"]
    assert row["verdict"] == "not measured"
    assert "does not measure memory" in row["reason"]
    assert row["quote"] and row["locator"] and row["url"]
    [said] = told.paragraphs([row])
    assert "not measured | `zmq_message_size` does not measure memory" in said
    assert "None" not in said


def test_a_claim_about_engines_is_not_judged_between_plain_ranks(tmp_path, rows):
    between = judge(tmp_path, rows)["mpi-speedup"]
    assert between["protocol"].endswith("re-sent, thread level multiple, between engines, fresh memory")
    to_ranks = {"player": "rank", "protocol": "float64 array, re-sent, thread level multiple"}
    moved = [{**row, **to_ranks} if row.get("player") == "engine" else row for row in rows]
    tiers = [{"tier": "standard", "arms": ["send", "Send"], "adds": [{"player": "engine"}], "low": 1, "high": 1000000}]
    row = judge(tmp_path, moved, higher={"mpi_pingpong": tiers})["mpi-speedup"]
    assert (row["verdict"], row["value"]) == ("not measured", None)
    assert row["reason"].startswith("not measured under its conditions: `mpi_pingpong` has no curve with `")
    assert "measured from tier `standard` on" in row["reason"]


def test_the_claims_of_the_libzmq_mail_are_judged_on_its_unions():
    mail = [claim["quantity"] for claim in shipped() if claim["source"] == "vsm"]
    assert {quantity["arm"].split(" B ")[1] for quantity in mail} == {"union", "packed union"}


def test_an_open_end_stays_open_on_a_bounded_scale():
    (claim,) = (claim for claim in shipped() if claim["claim"] == "ipp-large-task")
    row = judgement.row(
        claim, field({side: np.zeros((5, len(X))) for side in sides(claim["quantity"])}), of_source([], "")
    )
    assert row["verdict"] == "holds"


def test_a_sources_numbers_are_not_interpolated():
    (claim,) = (claim for claim in shipped() if claim["claim"] == "zmq-large-win")
    moved = claim | {"quantity": claim["quantity"] | {"at": 400_000}}
    source = of_source(published.read(), "pyzmq")
    assert judgement._of_source(claim, source)["own"] == "contradicts"
    assert judgement._of_source(moved, source) == {"own": "no data"}
