"""Is the answer to each small file of tests/own right: the cause, in words, or the arms that can run it?"""

from argparse import Namespace
from pathlib import Path

import pytest
from launching import ROOT, settings

from crossover.cli import trying
from crossover.config import schema, user_file
from crossover.errors import CrossoverError

ENTRANTS = schema.complete({}).farms
SHORT = {"block_seconds": 0.002, "fewest_rounds": 1, "rounds": {"at_least": 2, "at_most": 2}, "budget_seconds": 3}


def looked(file: Path) -> str:
    """What `crossover try` says before it measures, or instead."""
    (name,) = user_file.of_file(file)
    part = trying._messages if name == "own_message" else trying._tasks
    chosen = Namespace(file=file, counts="1", workers=2, notebook=False)
    try:
        return "\n".join(part(name, chosen, ["loop"], 1).lines)
    except CrossoverError as error:
        return str(error)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("cached.py", "It remembers its results: "),
        ("sparse.py", "cannot be compared: ValueError: The truth value of an array"),
        ("sparse.py", "(sparse.py); add same(got, expected), which tells"),
    ],
)
def test_a_first_look_names_the_cause(file, said):
    told = looked(ROOT / "tests" / "own" / file)
    assert said in told, told


@pytest.mark.parametrize(
    ("file", "holes"),
    [
        ("inplace.py", {"joblib": ""}),
        ("missing.py", {"concurrent.futures": ""}),
    ],
)
def test_a_launch_measures_every_arm_that_can_run_it(launch, file, holes):
    arms = ["loop", "threads", *holes]
    text = (ROOT / "tests" / "own" / file).read_text(encoding="utf-8")
    own = {"item_counts": [8], "engines": 2, "reference": "loop", "pools": ["running"], "arms": arms, "file": file}
    own |= {"sources": {file: text}, "entrants": {name: ENTRANTS[name] for name in arms}}
    one = launch("own_task", settings("own_task", SHORT | own))
    assert one.run() == 0, one.log.read_text(encoding="utf-8")
    reasons = {row["arm"]: row["validity"] if row["value"] is None else "" for row in one.rows}
    wrong = {arm: said for arm, said in reasons.items() if (holes[arm] not in said if holes.get(arm) else said)}
    assert not wrong and len(reasons) == len(arms) + 1, reasons
