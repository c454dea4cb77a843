"""Is a flood's prelude what its curve says?"""

import time

import pytest

from crossover.design import experiments
from crossover.design.protocol import BINDINGS, PRELUDES, label
from crossover.measure.sampling import prelude


@pytest.mark.parametrize(("kind", "lasts"), [("pause", True), ("none", False), (None, False)])
def test_a_prelude_pauses_or_does_nothing(kind, lasts):
    spent = []
    # Of several, because another program can take the core meanwhile.
    for _ in range(5):
        began = time.perf_counter()
        prelude.play({"prelude": kind} if kind else {})
        spent.append(time.perf_counter() - began)
    assert (min(spent) >= prelude.SECONDS) == lasts


@pytest.mark.parametrize(("key", "words"), [("prelude", PRELUDES), ("binding", BINDINGS)])
def test_every_prelude_and_binding_of_an_experiment_has_words(key, words):
    named = {value for each in experiments.declared().values() for value in each.keys.get(key, ())}
    # Those of earlier releases have words too.
    assert {*words} - named <= {"wait", "work"} and named <= {*words}
    assert label({"pattern": "round trips", "prelude": "wait"}) == "round trips, sender waits"
