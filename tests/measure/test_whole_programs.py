"""Does a whole program run the lines to paste, tell its own time, and say why it failed?"""

import time

import pytest

from crossover.design import farms
from crossover.measure.farms import programs
from crossover.measure.farms.user_code import unfold

ITEMS = "import time\n\n\ndef items(count):\n    time.sleep(0.5)\n    return list(range(count))\n\n\n"
GOOD = f"{ITEMS}def task(item):\n    time.sleep(0.02)\n    return -item\n"


def run(text, arm, name, count=3):
    with unfold({f"{name}.py": text}):
        return programs.run(f"{name}.py", arm, count, 2)


@pytest.mark.parametrize("arm", ["loop", "multiprocessing.Pool"])
def test_a_program_returns_the_results_and_its_time_without_making_items(arm):
    began = time.perf_counter()
    seconds, results = run(GOOD, arm, "sleeping_program")
    assert results == [0, -1, -2]
    assert 0.02 < seconds < time.perf_counter() - began - 0.5


@pytest.mark.parametrize(
    ("text", "arm", "said"),
    [
        (GOOD.replace("-item", "1 / item"), "loop", "it ended with ZeroDivisionError: division by zero"),
        (GOOD.replace("-item", "(lambda: 1)"), "concurrent.futures", "return plain values, or use threads"),
        ("raise SystemExit('no file')", "threads", "it ended with no file"),
        (GOOD.replace("0.02", "60"), "loop", "it did not end within 2 s"),
    ],
)
def test_a_program_that_fails_says_why_in_one_line(monkeypatch, text, arm, said):
    monkeypatch.setattr(programs, "LIMIT_SECONDS", 2)
    with pytest.raises(programs.ProgramError, match=said) as caught:
        run(text, arm, f"failing_program_{abs(hash(text))}")
    assert "\n" not in str(caught.value)


def test_only_arms_with_lines_of_their_own_are_programs_each_text_once():
    arms = ["dask", "multiprocessing.Pool map", "loop", "multiprocessing.Pool", "mine", "leastload"]
    assert programs.arms_of(arms) == ("multiprocessing.Pool map", "loop")
    # Nothing that a program starts may listen on a network.
    assert {farm for farm, own in farms.declared().items() if own.is_program} == {
        *("loop", "concurrent_futures", "multiprocessing_pool", "joblib", "threads", "interpreters")
    }
