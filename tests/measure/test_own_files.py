"""Is the answer to each small file of tests/own right: the cause, in words, or the arms that can run it?"""

from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from launching import ROOT, settings

from crossover.cli import trying
from crossover.config import schema, user_file
from crossover.errors import CrossoverError
from crossover.experiments.own_message import SNIPPETS, driver
from crossover.experiments.own_task import driver as tasks
from crossover.measure.farms.user_code import unfold
from crossover.records.validities import Validity, count
from crossover.report.text import holes as holes_of

ENTRANTS = schema.complete({}).farms
POOL = "concurrent.futures"
ARMS = ("loop", "threads", POOL)
CAUSE = "concurrent.futures, loop, threads: task fails for item 5"
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
        ("random_message.py", "message(1) gives another object at each call; seed what is random"),
        ("random_items.py", "items(2) gives other items at each call; seed what is random"),
        ("arguments.py", "SystemExit: 2 (arguments.py, line 5); guard what only a program does by `if __name__ == "),
        ("sparse.py", "(sparse.py); add same(got, expected), which tells"),
        ("large_message.py", "message(1) has 120 MB when pickled, and at most 100 MB are measured"),
        ("prints_fd.py", "prints_fd.py: prints without an end; remove that"),
        ("forks_live.py", "forks_live.py: task takes "),
        ("generator.py", "items(2) returned a generator; return a list with as many items as asked for"),
        ("fails.py", "task fails: KeyError: 1 (fails.py, line 9); correct it"),
        ("speaks.py", "speaks.py: prints 'item 0'; remove that, since printing takes time too"),
        ("random_results.py", "two calls of task on one item returned different results; seed what is random"),
        ("shared_fails.py", "shared() fails: FileNotFoundError: "),
        ("lambda_message.py", "message(1) cannot be sent: "),
        (
            "beside.py",
            "places.csv' (beside.py, line 11); modules beside the file come along, data do not: name them by",
        ),
    ],
)
def test_a_first_look_names_the_cause(file, said):
    told = looked(ROOT / "tests" / "own" / file)
    assert said in told, told


@pytest.mark.parametrize(
    ("file", "holes"),
    [
        ("inplace.py", {}),
        ("missing.py", {}),
        ("changes_cwd.py", {}),
        ("exit.py", dict.fromkeys(ARMS, " at some points: CAUSE: SystemExit: no reads left (exit.py, line 10)")),
        ("badexc.py", dict.fromkeys(ARMS, " at some points: CAUSE: Broken: ROW 5 (badexc.py, line 12)")),
        ("kill.py", {POOL: "at some points: concurrent.futures: with 8 items, task ends a worker's process"}),
        ("setorder.py", {POOL: "concurrent.futures: results differ in other processes: seed what is random, sort"}),
        ("decorated.py", {POOL: "pickle cannot find 'inner', a function inside another: decorate it with"}),
        ("open_file.py", {POOL: "Not possible: concurrent.futures: TypeError: cannot pickle"}),
        (
            "alarm.py",
            {"threads": "ValueError: signal only works in main thread of the main interpreter (alarm.py, line 9)"},
        ),
    ],
)
def test_a_launch_measures_every_arm_that_can_run_it(launch, file, holes):
    text = (ROOT / "tests" / "own" / file).read_text(encoding="utf-8")
    own = {
        "item_counts": [1, 8],
        "engines": 2,
        "reference": "loop",
        "pools": ["running"],
        "arms": [*ARMS],
        "file": file,
    }
    own |= {"sources": {file: text}, "entrants": {name: ENTRANTS[name] for name in ARMS}}
    one = launch("own_task", settings("own_task", SHORT | own))
    assert one.run() == 0, one.log.read_text(encoding="utf-8")
    lines = holes_of.impossible([*map(Validity.of, count(one.table).to_pylist())], "own_task")
    told = {arm: line for line in lines for arm in ARMS if f" {arm}," in line or f" {arm}:" in line}
    assert told.keys() == holes.keys() and all(holes[arm].replace("CAUSE", CAUSE) in told[arm] for arm in holes), lines


def test_a_task_that_hangs_in_other_processes_is_named_soon(monkeypatch):
    text = (ROOT / "tests" / "own" / "hangs.py").read_text(encoding="utf-8")
    own = settings("own_task", {"item_counts": [2], "file": "hangs.py", "sources": {"hangs.py": text}})
    monkeypatch.setattr(tasks, "START_LIMIT_SECONDS", 1.5)
    monkeypatch.setitem(tasks._item_seconds, "hangs.py", 0.001)
    monkeypatch.setitem(tasks._import_seconds, "hangs.py", 0.0)
    with unfold(own.sources):
        assert tasks._elsewhere(own) == {2: "with 2 items, task did not end within 2 s in other processes"}


class Loop:
    """The only rank: what it sends, it receives."""

    def Send(self, value, dest):
        self.sent = bytes(value)

    def Recv(self, value, source):
        memoryview(value)[:] = self.sent


@pytest.mark.parametrize(
    ("file", "fault"),
    [
        *((f"{kind}_message.py", "") for kind in ("structured", "times", "texts", "read_only")),
        ("masked_message.py", "TypeError: MaskedArray is no contiguous NumPy array, which is all in its memory"),
    ],
)
def test_the_lines_to_paste_send_every_array_that_is_measured(file, fault):
    text = (ROOT / "tests" / "own" / file).read_text(encoding="utf-8")
    with unfold({file: text}):
        end = driver.End(file)
    assert end.fault("mpi4py Send", 3) == fault
    if not fault:
        value = end.value(3)
        # Without the import, which would start MPI in this process.
        _, lines = SNIPPETS["mpi4py Send"].split("COMM_WORLD\n")
        scope = {"value": value, "received": np.empty_like(value), "comm": Loop(), "dest": 0, "source": 0}
        exec(lines, scope)
        assert driver.difference(scope["received"], value) == ""


def test_items_do_not_hang_where_the_import_is_slow(monkeypatch):
    file = "slow_import.py"
    text = "import time\n\ntime.sleep(1)\nitems = range\n\n\ndef task(item):\n    return item\n"
    monkeypatch.setattr(tasks, "START_LIMIT_SECONDS", 0.5)
    monkeypatch.setitem(tasks._item_seconds, file, 0.0)
    with unfold({file: text}):
        for seconds, fault in ((0.0, "with 2 items, task did not end within 0 s in other processes"), (1.0, "")):
            monkeypatch.setitem(tasks._import_seconds, file, seconds)
            assert tasks._fault_elsewhere(SimpleNamespace(file=file, engines=2), 2) == fault
