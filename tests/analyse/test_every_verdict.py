"""Can every claim get every verdict, from possible measurements?"""

from dataclasses import replace

import pytest
from judged import shipped
from possible import field, fields

from crossover.analyse.claims import judgement
from crossover.analyse.claims.candidates import of_source
from crossover.config.claim_list import Expected
from crossover.report.text.claims import DECIDED

QUIET, LOUD = 0.002, 2.0
NOTHING = of_source([], "")


def verdicts(claim):
    """The verdicts that some measurement gives; the search for each stops at the first."""
    found = {judgement.row(claim, field({}), NOTHING)["verdict"]}
    for noise, wanted in ((QUIET, {"holds", "outside"}), (LOUD, {"open"})):
        for each in fields(claim, noise):
            if wanted <= found:
                break
            verdict = judgement.row(claim, each, NOTHING)["verdict"]
            found.add("outside" if verdict in DECIDED[1:] else verdict)
    return found


FIRST = 48
"""The claims that the gate tries; the search takes seconds for each."""
EVERY = [
    pytest.param(claim, id=claim.name, marks=[pytest.mark.long] if place >= FIRST else [])
    for place, claim in enumerate(claim for claim in shipped() if not claim.unlike)
]


@pytest.mark.parametrize("claim", EVERY)
def test_a_claim_can_get_every_verdict(claim):
    assert verdicts(claim) == {"holds", "outside", "open", "not measured"}


def test_a_claim_that_no_measurement_could_contradict_or_confirm_is_found_out():
    """Submission and round trip share the tasks and the start, so submission is always the faster one."""
    claims = {claim.name: claim for claim in shipped()}
    always = replace(claims["ipp-sent-faster"], expected=Expected(low=1.0))
    never = replace(claims["ipp-large-task"], expected=Expected(low=1.1))
    assert "outside" not in verdicts(always) and "holds" not in verdicts(never)
