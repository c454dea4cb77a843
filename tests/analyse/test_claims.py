"""Is every claim judged by a run's tables, and does it name the remedy for missing measurements?"""

from dataclasses import replace

import numpy as np
import pytest
from judged import louder, medians, shipped, write

from crossover.analyse.claims import judgement
from crossover.analyse.claims.candidates import of_source
from crossover.analyse.estimates.curve import NAMES
from crossover.config import published
from crossover.records import record
from crossover.records.rows import Claim
from crossover.report.text import claims as told
from crossover.report.text import numbers


@pytest.fixture(scope="module")
def rows():
    return list(medians(shipped()))


def judge(folder, rows, *, these=None, effect=1.01, holes=()):
    write(folder, rows, effect)
    launches = record.read(folder / "launches.parquet", record.LAUNCHES).to_pylist()
    record.write(record.from_rows([*launches, *holes], record.LAUNCHES), folder / "launches.parquet")
    judgement.write(these or shipped(), folder)
    return {row["claim"]: row for row in record.read(folder / "claims.parquet", record.CLAIMS).to_pylist()}


def test_claims_on_curves_of_known_shape_are_judged_as_before(tmp_path, rows, snapshot):
    claims = judge(tmp_path, rows)
    assert list(claims) == [claim.name for claim in shipped()]
    assert {row["launches"] for row in claims.values()} == {5}
    assert all(row["rows"] for row in claims.values())

    def line(row):
        names = ("value", "low", "high", "own_value")
        value, low, high, own = ("–" if row[name] is None else numbers.significant(row[name]) for name in names)
        said = f"{row['verdict']}: {value} [{low}, {high}]; its source {row['own']} ({own})"
        return f"{row['claim']}: {said}; {row['reason']}"

    assert "\n".join(map(line, claims.values())) == snapshot


def without(rows, **facts):
    return [row for row in rows if not all(row[name] == value for name, value in facts.items())]


def test_an_unmeasured_claim_gives_the_reason_and_the_remedy(tmp_path, rows, snapshot):
    claims = {claim.name: claim for claim in shipped()}
    speedup, small = claims["mpi-speedup"], claims["zmq-small-penalty"]
    short = [row for row in rows if row["experiment"] != "task_latency" or row["x"] < 200]
    to_ranks = {"player": "rank", "protocol": "float64 array, re-sent, thread level multiple"}
    ranks = [{**row, **to_ranks} if row.get("player") == "engine" else row for row in rows]
    wheres = {"polled": replace(speedup.quantity, where={"polled": False})}
    wheres["nodes"] = replace(small.quantity, placement="nodes")
    hole = {"experiment": "mpi_pingpong", "placement": "node", "outcome": "hole", "hole": "timeout", "reason": "slow"}
    cases = {
        "no launch": ("mpi-speedup", without(rows, experiment="mpi_pingpong"), {}),
        "only a hole": ("mpi-speedup", without(rows, experiment="mpi_pingpong"), {"holes": [hole]}),
        "nobody's arm": ("vsm-gain", without(rows, arm="64 B union"), {}),
        "no value": ("zmq-memcpy", without(rows, metric="send rate"), {}),
        "another key": ("mpi-speedup", rows, {"these": [replace(speedup, quantity=wheres["polled"])]}),
        "nobody's key": ("mpi-speedup", ranks, {}),
        "nobody's point": ("sched-twisted-512", short, {}),
        "hosts": ("zmq-small-penalty", rows, {"these": [replace(small, quantity=wheres["nodes"])]}),
    }
    reasons = {}
    for case, (claim, measured, options) in cases.items():
        about = [row for row in measured if row["experiment"] == claims[claim].quantity.experiment]
        row = judge(tmp_path, about, **{"these": [claims[claim]]} | options)[claim]
        assert (row["verdict"], row["value"], row["own"] is not None) == ("not measured", None, True)
        reasons[case] = row["reason"]
    assert "\n".join(f"{case}: {reason}" for case, reason in reasons.items()) == snapshot


@pytest.mark.long
def test_no_claim_is_decided_by_one_launch_or_if_equal_arms_differ_widely(tmp_path, rows):
    alone = judge(tmp_path, [row for row in rows if row["launch"] == 1])
    assert {row["verdict"] for row in alone.values()}.isdisjoint(told.DECIDED)
    loud = judge(tmp_path, rows, effect=1e9).values()
    assert {row["kind"] for row in loud if row["verdict"] in told.DECIDED} <= {"crossover", "crossovers"}


@pytest.mark.long
def test_a_changed_curve_changes_exactly_the_sentences_that_depend_on_it(tmp_path, rows):
    field = judgement.measured(write(tmp_path, rows))
    nothing = of_source([], "")

    def said(curves, experiment):
        about = [claim for claim in shipped() if experiment in str(claim.quantity)]
        changed = replace(field, curves=curves)
        return {claim.name: as_read(judgement.row(claim, changed, nothing)) for claim in about}

    followed = set()
    before = {name: said(field.curves, name) for name in {curve.facts["experiment"] for curve in field.curves}}
    for curve in field.curves:
        after = said(louder(field.curves, curve), curve.facts["experiment"])
        name = {key: curve.facts[key] for key in NAMES}
        for claim, row in before[curve.facts["experiment"]].items():
            rests = name in row["rows"]
            same = told.measured(Claim.of(row)) == told.measured(Claim.of(after[claim]))
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


def test_the_claims_of_the_libzmq_mail_are_judged_on_its_unions():
    mail = [claim.quantity for claim in shipped() if claim.source == "vsm"]
    assert {quantity.arm.split(" B ")[1] for quantity in mail} == {"union", "packed union"}


def test_a_sources_numbers_are_not_interpolated():
    (claim,) = (claim for claim in shipped() if claim.name == "zmq-large-win")
    moved = replace(claim, quantity=replace(claim.quantity, at=400_000))
    source = of_source(published.read(), "pyzmq")
    assert judgement._of_source(claim, source)["own"] == "contradicts"
    assert judgement._of_source(moved, source) == {"own": "no data"}
