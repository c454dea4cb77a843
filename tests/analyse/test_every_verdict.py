"""Can the test of each claim end in every verdict, on measurements that are possible?"""

import numpy as np
import pytest
from judged import shipped
from possible import FASTER, field, fields

from crossover.analyse.claims import judgement
from crossover.analyse.claims.candidates import of_source

QUIET, LOUD = 0.002, 1.0
NOTHING = of_source([], "")


def verdicts(claim):
    """The verdicts that are reached on some measurement, each looked for until it is found."""
    found = {judgement.row(claim, field({}), NOTHING)["verdict"]}
    for noise, wanted in ((QUIET, {"holds", "refuted"}), (LOUD, {"inconclusive"})):
        for each in fields(claim, noise):
            if wanted <= found:
                break
            found.add(judgement.row(claim, each, NOTHING)["verdict"])
    return found


@pytest.mark.parametrize("claim", shipped(), ids=lambda claim: claim["claim"])
def test_a_claim_can_hold_and_be_refuted_and_be_left_open_and_be_unmeasured(claim):
    assert verdicts(claim) == {"holds", "refuted", "inconclusive", "not measured"}


def test_a_claim_that_no_measurement_could_refute_is_found_out():
    """Submission and round trip share the tasks and the start, so the first is the faster one whatever is measured."""
    (claim,) = (claim for claim in shipped() if claim["claim"] == "ipp-sent-faster")
    assert "refuted" not in verdicts(claim | {"low": 1.0, "high": np.inf, "published": None})


def test_a_claim_that_no_measurement_could_confirm_is_found_out():
    (claim,) = (claim for claim in shipped() if claim["claim"] == "ipp-large-task")
    assert "holds" not in verdicts(claim | {"low": 1.1})


def test_what_is_made_up_is_possible():
    (claim,) = (claim for claim in shipped() if claim["claim"] == "ipp-sent-faster")
    for each in fields(claim, LOUD):
        sent, back = (next(curve for curve in each.curves if curve.facts["metric"] == name) for name in FASTER)
        assert (sent.values >= back.values).all()
