"""Is a block's prelude what its curve says, for every arm, and outside the timed part?"""

import time

import pytest

from crossover.design import experiments
from crossover.design.protocol import PRELUDES, label
from crossover.measure.sampling import prelude


@pytest.mark.parametrize(
    ("kind", "lasts", "works"),
    [("wait", True, False), ("pause", True, False), ("work", True, True), ("none", False, False), (None, False, False)],
)
def test_a_prelude_waits_works_or_does_nothing(kind, lasts, works):
    spent = []
    # Of several, because another program can take the core meanwhile.
    for _ in range(5):
        began, used = time.perf_counter(), time.process_time()
        prelude.play({"prelude": kind} if kind else {})
        spent.append((time.perf_counter() - began, time.process_time() - used))
    assert (min(seconds for seconds, _ in spent) >= prelude.SECONDS) == lasts
    assert (max(busy for _, busy in spent) > prelude.SECONDS / 4) == works


def test_every_prelude_of_an_experiment_has_words():
    named = {kind for each in experiments.declared().values() for kind in each.keys.get("prelude", ())}
    assert named == {*PRELUDES}
    assert label({"pattern": "round trips", "prelude": "wait"}) == "round trips, sender waits"
