"""Can every claim get every verdict, from possible measurements?"""

import numpy as np
import pytest
from judged import shipped
from possible import FASTER, field, fields

from crossover.analyse.claims import judgement
from crossover.analyse.claims.candidates import of_source

QUIET, LOUD = 0.002, 2.0
NOTHING = of_source([], "")


def verdicts(claim):
    """The verdicts that some measurement gives; the search for each stops at the first."""
    found = {judgement.row(claim, field({}), NOTHING)["verdict"]}
    for noise, wanted in ((QUIET, {"holds", "refuted"}), (LOUD, {"open"})):
        for each in fields(claim, noise):
            if wanted <= found:
                break
            found.add(judgement.row(claim, each, NOTHING)["verdict"])
    return found


FIRST = 48
"""The claims that the gate tries; the search takes seconds for each."""
EVERY = [
    pytest.param(claim, id=claim["claim"], marks=[pytest.mark.long] if place >= FIRST else [])
    for place, claim in enumerate(shipped())
]


@pytest.mark.parametrize("claim", EVERY)
def test_a_claim_can_get_every_verdict(claim):
    assert verdicts(claim) == {"holds", "refuted", "open", "not measured"}


def test_a_claim_that_no_measurement_could_refute_is_found_out():
    """Submission and round trip share the tasks and the start, so submission is always the faster one."""
    (claim,) = (claim for claim in shipped() if claim["claim"] == "ipp-sent-faster")
    assert "refuted" not in verdicts(claim | {"low": 1.0, "high": np.inf, "published": None})


def test_a_claim_that_no_measurement_could_confirm_is_found_out():
    (claim,) = (claim for claim in shipped() if claim["claim"] == "ipp-large-task")
    assert "holds" not in verdicts(claim | {"low": 1.1})


def test_synthetic_measurements_are_possible():
    (claim,) = (claim for claim in shipped() if claim["claim"] == "ipp-sent-faster")
    for each in fields(claim, LOUD):
        sent, back = (next(curve for curve in each.curves if curve.facts["metric"] == name) for name in FASTER)
        assert (sent.values >= back.values).all()
