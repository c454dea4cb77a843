"""Is a user's function looked at, measured and compared, and is what cannot run a hole with the reason?"""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import pytest
from launching import settings

from crossover.config import schema
from crossover.errors import CrossoverError
from crossover.experiments.own_task import driver
from crossover.measure.farms import pilot
from crossover.measure.farms.user_code import equal, functions, unfold
from crossover.measure.ranks import variables

ITEMS = "def items(count):\n    return list(range(count))\n\n\n"
GOOD = f"{ITEMS}def task(item):\n    return [item, str(item)]\n"
NUMBER = iter(range(1000))
look = partial(pilot.look, loop="loop")


@dataclass
class Result:
    mean: float
    values: np.ndarray


def file_of(text):
    """A new name, because a process imports a module once."""
    return f"user_file_{next(NUMBER)}.py", text


# ---- results


@pytest.mark.parametrize(
    ("value", "other"),
    [
        (1, 2),
        ([1.0, math.nan], [1.0, 2.0]),
        ((1, (2, 3)), (1, (2, 4))),
        ({"a": np.arange(3)}, {"a": np.arange(4)}),
        (np.array([1.0, math.nan]), np.array([1.0, 0.0])),
        (np.array([1]), np.array([1.0])),
        (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 3]})),
        ("text", b"text"),
        (Result(math.nan, np.arange(2)), Result(math.nan, np.arange(3))),
        (np.array([1, "a", math.nan], dtype=object), np.array([1, "b", math.nan], dtype=object)),
        (np.array(["2020-01-01", "NaT"], "M8[D]"), np.array(["NaT", "NaT"], "M8[D]")),
        (np.array([(1, math.nan)], "i4,f8"), np.array([(2, math.nan)], "i4,f8")),
    ],
)
def test_results_are_compared_element_by_element(value, other):
    assert equal(value, value) and equal(other, other)
    assert not equal(value, other) and not equal(other, value)


def test_an_array_of_a_worker_may_be_of_another_class(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(3))
    assert equal(np.load(tmp_path / "a.npy", mmap_mode="r"), np.arange(3))


# ---- a first look


def test_a_first_look_tells_duration_and_sizes_and_compares_as_the_file_says():
    file, text = file_of(
        f"import random, time\n{ITEMS}def task(item):\n    time.sleep(0.01)\n    return random.randbytes(1000)\n\n\n"
        "def same(got, sent):\n    return len(got) == len(sent)\n"
    )
    found = look(file, {file: text})
    assert 0.01 <= found.task_seconds < 0.1 and found.item_bytes < 20 and 1000 < found.result_bytes < 1100
    with unfold({file: text}):
        assert functions(file).same("a", "b") and not functions(file).same("a", "")
    # What cannot be pickled has no size.
    file, text = file_of("def items(count):\n    return [lambda: 1] * count\n\n\ndef task(item):\n    return item()\n")
    assert look(file, {file: text}).item_bytes is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("list(range(count))", "[]"), "items(2) returned a list of 0; return a list with as many items"),
        # The line of the file is named, even if a file beside it is at fault.
        (
            f"from near_file import divided\n{GOOD}".replace("str(item)", "divided(item)"),
            "task fails: ZeroDivisionError: division by zero (FILE, line 7)",
        ),
    ],
)
def test_a_file_that_cannot_be_measured_ends_with_a_line_that_names_it(text, said):
    file, text = file_of(text)
    with pytest.raises(CrossoverError) as caught:
        look(file, {file: text, "near_file.py": "def divided(item):\n    return 1 / item\n"})
    told = str(caught.value)
    assert told.startswith(f"{file}: ") and said.replace("FILE", file) in told and "\n" not in told


# ---- a launch

ENTRANTS = schema.complete({}).farms
SHORT = {
    "item_counts": [1, 3], "engines": 2, "reference": "loop", "block_seconds": 0.002, "fewest_rounds": 2,
    "rounds": {"at_least": 3, "at_most": 3}, "budget_seconds": 1,
}  # fmt: skip


def measured(launch, text, *arms, **changed):
    """The rows of a launch by arm."""
    file, text = file_of(text)
    own = {"arms": ["loop", *arms], "file": file, "sources": {file: text, "near_file.py": "HALF = 0.5\n"}} | changed
    entrants = {name: ENTRANTS[name] for name in own["arms"]}
    one = launch("own_task", settings("own_task", SHORT | own | {"entrants": entrants}))
    assert one.run() == 0, one.log.read_text(encoding="utf-8")
    one.leaves_nothing_but_its_file()
    rows = {}
    for row in one.rows:
        rows.setdefault(row["arm"], []).append(row)
    return rows


def test_threads_and_processes_run_a_function_with_a_module_beside_it_and_a_shared_argument(launch):
    shared = "def shared():\n    return 7\n\n\n"
    text = f"from near_file import HALF\n{ITEMS}{shared}def task(item, seven):\n    return item * HALF + seven\n"
    rows = measured(launch, text, "threads", "concurrent.futures", "joblib")
    assert rows.keys() == {"loop", "threads", "concurrent.futures", "joblib", "null"}
    assert {(row["pool"], row["shared"]) for row in rows["loop"]} == {("running", "sent"), ("running", "kept")}
    assert all(row["value"] > 0 for arm in rows for row in rows[arm])
    assert {row["x"] for row in rows["joblib"]} == {1, 3}


def test_an_arm_that_cannot_run_the_function_is_a_hole_and_the_others_go_on(launch):
    text = "def items(count):\n    return [lambda: 1] * count\n\n\ndef task(item):\n    return item()\n"
    rows = measured(launch, text, "threads", "concurrent.futures")
    assert all(row["value"] > 0 for arm in ("loop", "threads") for row in rows[arm])
    assert {row["value"] for row in rows["concurrent.futures"]} == {None}
    reasons = {row["pool"]: row["validity"] for row in rows["concurrent.futures"]}
    assert reasons.keys() == {"running", "program"}
    assert all("pickle" in said and "return plain values, or use threads" in said for said in reasons.values())


def test_wrong_results_have_no_value(launch):
    text = f"import multiprocessing\n{ITEMS}def task(item):\n    return multiprocessing.parent_process() is None\n"
    rows = measured(launch, text, "concurrent.futures")
    assert all(row["value"] > 0 for row in rows["loop"])
    wrong = {(row["pool"], row["value"], row["validity"]) for row in rows["concurrent.futures"]}
    assert wrong == {(pool, None, driver.OTHERWISE) for pool in ("running", "program")}


def test_a_function_that_no_worker_can_import_is_pickled_by_joblib_alone(launch):
    rows = measured(launch, GOOD, "concurrent.futures", "joblib", functions=["module", "notebook"], pools=["running"])
    values = {(arm, row["function"]): row for arm in rows for row in rows[arm]}
    assert all(values[arm, place]["value"] > 0 for arm in ("loop", "joblib") for place in ("module", "notebook"))
    assert values["concurrent.futures", "module"]["value"] > 0
    assert "put it into a module" in values["concurrent.futures", "notebook"]["validity"]


@pytest.mark.parametrize("wanted", ["as set", "1"])
def test_libraries_have_the_users_threads_or_one(launch, monkeypatch, wanted):
    monkeypatch.setenv(variables.OF_USER, '{"OMP_NUM_THREADS": "5"}')
    # As Snakemake sets it for a job.
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setenv("MKL_NUM_THREADS", "2")
    seen = '[os.environ.get("OMP_NUM_THREADS"), os.environ.get("MKL_NUM_THREADS")]'
    expected = ["5", None] if wanted == "as set" else ["1", "1"]
    same = f"def same(got, sent):\n    return got == {expected}\n"
    text = f"import os\n{ITEMS}def task(item):\n    return {seen}\n\n\n{same}"
    rows = measured(launch, text, "concurrent.futures", library_threads=[wanted])
    assert all(row["value"] > 0 and row["library_threads"] == wanted for arm in rows for row in rows[arm])


def test_numbers_of_items_that_are_left_out_or_fail_are_named(monkeypatch):
    own = {"item_counts": [1, 8, 1000], "file": "a.py", "budget_seconds": 1, "reference": "loop", "arms": ["loop"]}
    guard = driver.Guard(None, settings("own_task", own), {})
    monkeypatch.setitem(driver._item_seconds, "a.py", 0.1)
    guard.faults = {("", 8, "loop"): "items(8) fails", ("", 1, "threads"): "no"}
    assert guard.notes.split("; ") == [
        "1,000 items are left out, because a launch has no time for them",
        "8 items are not measured: items(8) fails",
    ]
