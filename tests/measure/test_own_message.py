"""Does every way carry a user's object, is one that cannot a hole with the reason, and is a bad message no value?"""

import multiprocessing
import threading
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import zmq
from launching import COMMON, ROOT, settings

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.errors import CrossoverError
from crossover.experiments.own_message import SNIPPETS, TO_CHILD, TO_RANK, driver, ways
from crossover.measure.farms.user_code import unfold
from crossover.measure.messages.loops import Way
from crossover.measure.messages.shared_block import Direction
from crossover.measure.sampling.contract import DAMAGED

PLAIN = {"msgpack", "JSON"}
HOLES = {
    "send_table": {"mpi4py Send", *PLAIN},
    "send_arrays": {"mpi4py Send", "Arrow IPC", *PLAIN},
    "send_frame": {"Arrow IPC", *PLAIN},
    "send_records": {"mpi4py Send", "Arrow IPC", *PLAIN},
}
"""The arms that cannot carry the object of each example."""
NUMBER = iter(range(1000))


def end_of(text):
    """An end whose file has this text, with a new name, because a process imports a module once."""
    file = f"user_message_{next(NUMBER)}.py"
    with unfold({file: text}):
        return driver.End(file)


def returning(value):
    return f"def message(count):\n    return {value}\n"


# ---- a launch


def measured(launch, text, counts, **chosen):
    """A launch, and its rows by count and arm."""
    own = {"counts": counts, "file": "users.py", "sources": {"users.py": text}, "fewest_rounds": 1}
    short = {"budget_seconds": 2, "rounds": {"at_least": 3, "at_most": 3}}
    one = launch("own_message", settings("own_message", COMMON | own | short | chosen))
    assert one.run() == 0, one.log.read_text(encoding="utf-8")
    one.leaves_nothing_but_its_file()
    rows = defaultdict(lambda: defaultdict(list))
    for row in one.rows:
        rows[row["x"]][row["arm"]].append(row)
    return rows


@pytest.mark.parametrize("name", HOLES)
def test_every_way_carries_the_object_of_an_example_or_is_a_hole_with_the_reason(launch, name):
    text = Path(ROOT, "docs", "examples", f"{name}.py").read_text(encoding="utf-8")
    end = end_of(text)
    assert {arm for arm in (*TO_CHILD, *TO_RANK) if end.fault(arm, 1)} == HOLES[name]
    # Together, these two go every way.
    if name not in ("send_frame", "send_table"):
        return
    (arms,) = measured(launch, text, [1]).values()
    assert arms.keys() == {*TO_CHILD, *TO_RANK, "null"}
    holes = {arm: {row["validity"] for row in rows} for arm, rows in arms.items() if rows[0]["value"] is None}
    assert holes.keys() == HOLES[name]
    assert all(len(reasons) == 1 and "TypeError: " in min(reasons) for reasons in holes.values())
    assert {row["metric"] for row in arms["Pipe send"]} == {"round trip", "throughput"}


def test_a_message_that_fails_or_does_not_arrive_is_a_hole_and_the_others_go_on(launch):
    text = (
        "import os\n\n\ndef restored(pid):\n    return [1 / (os.getpid() == pid)]\n\n\n"
        "class Local(list):\n    def __reduce__(self):\n        return restored, (os.getpid(),)\n\n\n"
        "def same(got, sent):\n    return got == sent or sent == [3]\n\n\n"
        "def message(count):\n    return Local([3]) if count == 3 else [(1, 2 / (count - 2))]\n"
    )
    rows = measured(launch, text, [1, 2, 3])

    def reasons(count, arm):
        return {row["validity"] for row in rows[count][arm]}

    assert all(row["value"] for arm in ("ZeroMQ pickle", "Queue", "mpi4py send") for row in rows[1][arm])
    assert reasons(1, "JSON") == {"same(got, sent) says that another object arrives"}
    for arm in (*TO_CHILD, "ZeroMQ pickle", "mpi4py pkl5 send"):
        assert reasons(2, arm) == {"message(2) fails: ZeroDivisionError: division by zero (users.py, line 18)"}
        assert reasons(3, arm) == {"it does not arrive: ZeroDivisionError: division by zero"}


# ---- reasons


@pytest.mark.parametrize(
    ("value", "arm", "said"),
    [
        ("[(1, 2)]", "JSON", "tuple arrives as list"),
        ("{1: 2}", "JSON", "dict arrives with other keys"),
        ("(1, 2)", "msgpack", "tuple arrives as list"),
        ("lambda: 1", "ZeroMQ pickle", "pickle"),
        ("lambda: 1", "Queue", "pickle"),
        ("__import__('numpy').ones((4, 4))[::2, ::2]", "mpi4py Send", "TypeError: ndarray is no contiguous NumPy"),
        ("object()", "mpi4py send", "object arrives with another value; if it is right, add same(got, sent)"),
        ("[1, 'a', None, {'b': 2.5}]", "JSON", ""),
        ("__import__('numpy').ones((2, 3), 'm8[s]')", "mpi4py Send", ""),
        ("__import__('pyarrow').table({'a': [1, None]})", "Arrow IPC", ""),
    ],
)
def test_an_object_that_cannot_be_sent_so_has_a_reason_in_one_line(value, arm, said):
    fault = end_of(returning(value)).fault(arm, 1)
    assert bool(fault) == bool(said) and said in fault and "\n" not in fault
    # A file's own comparison decides.
    if "arrives as" in said:
        assert end_of(f"{returning(value)}\n\ndef same(got, sent):\n    return True\n").fault(arm, 1) == ""


@pytest.mark.parametrize(
    ("value", "said"),
    [("1 / 0", "ZeroDivisionError"), ("lambda: 1", "pickle"), ("object()", "value"), ("print('a')", "prints 'a'")],
)
def test_a_first_look_refuses_what_cannot_be_sent_in_one_line(value, said):
    file = f"user_message_{next(NUMBER)}.py"
    with pytest.raises(CrossoverError, match=rf"^{file}: .*{said}.*$"):
        driver.look(file, {file: returning(value)})


# ---- blocks


@pytest.mark.parametrize("pattern", driver.Settings.patterns)
@pytest.mark.parametrize(
    ("got", "bad", "left"), [([1], False, False), ([2], False, False), ([1], True, False), ([1], False, True)]
)
def test_a_block_with_a_bad_message_has_no_value(pattern, got, bad, left):
    end = end_of(returning("[1]"))
    taken = driver.WORD if pattern == "stream" and got == [1] else got
    end.ways = {"Queue": lambda value: Way(lambda value: None, lambda: taken, lambda: left)}
    sender = driver.Sender(end, {"Queue": driver.Line(lambda command: None, lambda: bad)}, [])
    sender.faults["Queue", 1] = ""
    block = sender.run(Cell({"pattern": pattern}, 1), Arm("Queue", "Queue"), 3)
    assert block.fault == (DAMAGED if got == [2] or bad or left else "") and bool(block.values) != bool(block.fault)


def test_parts_go_through_a_block_one_after_another():
    ends = ways.Ends.made(multiprocessing.get_context("spawn"), 100)
    try:
        direction = Direction(ends.blocks[0], ends.turns[0])
        for value in ({"a": np.arange(5), "b": np.ones((2, 2))}, b"", [1]):
            direction.send_parts(ways.out_of_band(value))
            assert driver.difference(ways.from_out_of_band(direction.receive_parts()), value) == ""
        assert not direction.is_readable()
        direction.memory.release()
    finally:
        for block in ends.blocks:
            block.unlink()


# ---- before a launch


@pytest.mark.parametrize(("placement", "bindings"), [("node", ["own", "free", None]), ("nodes", [None, None])])
def test_round_trips_within_a_host_have_bindings_and_across_hosts_only_ranks_are_ends(placement, bindings):
    every = driver.cells(settings("own_message", {"placement": placement, "bindings": ["own", "free"], "counts": [5]}))
    assert [cell.keys.get("binding") for cell in every] == bindings
    assert {cell.arms for cell in every} == {TO_RANK} or placement == "node"


def test_counts_are_left_out_whose_objects_would_be_too_large(monkeypatch):
    monkeypatch.setattr(driver, "MOST_BYTES", 100_000)
    own = settings("own_message", {"counts": [1, 10, 1000], "budget_seconds": 1000})
    most, size = driver.fitting(end_of(returning("bytes(1000 * count)")), own)
    assert most == 10 and 10_000 < size < 10_100
    assert driver.fitting(end_of(returning("lambda: 1")), own) == (1000, 0)


def test_a_first_look_tells_sizes_and_what_goes_out_of_band():
    text = "import numpy as np\n\n\ndef message(count):\n    return [np.zeros(1000 * count), 'a']\n"
    found = driver.look("looked_at.py", {"looked_at.py": text})
    # It ends with an object that is large, or slow on a busy machine.
    assert found.counts == [10**power for power in range(len(found.counts))] and found.kind == "list"
    assert 8000 < found.pickled_bytes[0] < 8300 and found.pickled_bytes[-1] <= 8_001_000
    assert found.buffer_count == 1
    assert found.out_of_band_share == pytest.approx(8000 * found.counts[-1] / found.pickled_bytes[-1])


@pytest.mark.parametrize("arm", [*TO_CHILD, *TO_RANK])
def test_the_lines_to_paste_send_an_object(arm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # What is for some types alone has no lines, and ranks are not at hand.
    assert (arm in SNIPPETS) == (arm not in ("shared memory", "Arrow IPC"))
    if arm not in SNIPPETS or (arm.startswith("mpi4py") and compile(SNIPPETS[arm], arm, "exec")):
        return
    value = {"a": [1, 2.5, "b"]}
    with zmq.Context.instance().socket(zmq.PAIR) as other:
        other.bind("ipc://other")
        if "socket" not in SNIPPETS[arm]:
            exec(SNIPPETS[arm], scope := {"value": value})
            assert scope["received"] == value
            return
        # The other end sends each message back.
        echo = threading.Thread(target=lambda: other.send_multipart(other.recv_multipart()))
        echo.start()
        exec(SNIPPETS[arm], scope := {"value": value})
        echo.join()
        scope["socket"].close(linger=0)
        assert scope["received"] == value


def test_counts_that_are_left_out_or_that_no_way_carries_are_named():
    sender = driver.Sender(end_of(returning("[1]")), {}, [1000])
    sender.faults = {("Queue", 1): "", ("JSON", 1): "no", ("Queue", 2): "message(2) fails", ("JSON", 2): "no"}
    assert sender.notes.split("; ") == [
        "message(1000) is left out, because it is too large or too slow",
        "message(2) is not measured: message(2) fails",
    ]
