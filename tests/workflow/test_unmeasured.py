"""Does a run name the launches that it did not measure, each with its reason and a command that repeats it?"""

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from crossover.config import schema
from crossover.design.launch import Launch
from crossover.planning import receipt
from crossover.planning.receipt import Files
from crossover.workflow import failures

RUN, HOUR = "this", 3600


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Five launches, by the paths of their receipts."""
    monkeypatch.setenv(receipt.RUN, RUN)
    launches = [launch(number) for number in range(1, 6)]
    return {str(Files.of(str(tmp_path), "quick", each, 0).path): each for each in launches}


def launch(number):
    return Launch("toy", "node", number, schema.complete({}).experiments["zmq_latency"].within("node"))


def write(path, outcome="hole", hole="crashed", reason="it broke", run=RUN, after=0):
    """Write a receipt with its raw file, like a supervisor of a run whose clock is `after` seconds ahead."""
    files = Files(Path(path))
    raw = files.next_raw()
    raw.parent.mkdir(parents=True, exist_ok=True)
    raw.touch()
    why = {"hole": hole, "reason": reason} if outcome == "hole" else {}
    receipt.write(files, raw, {"outcome": outcome} | why, [])
    facts = json.loads(Path(path).read_text())
    Path(path).write_text(json.dumps(facts | {"run": run, "written": time.time() + after}))


def log(path, text, run=RUN, after=0):
    """Write the log of a launch of a run."""
    file = Files(Path(path)).log
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"run {run}\n{text}")
    os.utime(file, (time.time() + after,) * 2)
    return file


def test_each_group_of_holes_has_kind_reason_and_command(asked):
    first, second, third, _, fifth = asked
    write(first, "measured")
    for path in (second, fifth):
        write(path)
    write(third, hole="timed out", reason="too slow")
    found = failures.find({path: asked[path] for path in (fifth, first, second, third)})
    assert found.fails
    assert str(found).splitlines() == [
        "3 launches of this run were not measured",
        "not measured: toy, placement node, launch 2, 5 (crashed): it broke; to retry, repeat the command with: "
        f"-R {second} {fifth}",
        "not measured: toy, placement node, launch 3 (timed out): too slow; to retry, repeat the command with: "
        f"-R {third}",
    ]


def test_a_launch_that_a_run_without_failures_did_not_start_is_called_a_fault_of_ours(asked):
    text = str(failures.find(asked, succeeded=True))
    assert "not started: 5, although nothing failed: a bug in crossover" in text
    assert "a bug" not in str(failures.find(asked))


def test_launches_that_were_not_started_are_one_line(asked):
    others = {path.replace("/toy/", "/game/"): replace(each, experiment="game") for path, each in asked.items()}
    found = failures.find(asked | others)
    assert str(found).splitlines()[:2] == [
        "10 launches of this run were not measured",
        "not started: 10; to measure the rest, repeat the command",
    ]


def test_launches_without_a_receipt_have_the_words_for_the_page_too(asked):
    first, second, _, fourth, fifth = asked
    for path in (first, fifth):
        write(path, "measured")
    began = log(second, "toy node launch 2: visit 3 of 9\n")
    log(fourth, "toy node launch 4: visit 3 of 9\n", run="earlier")
    found = failures.find(asked)
    assert found.fails
    assert str(found).splitlines() == [
        "3 launches of this run were not measured",
        "not measured: toy, placement node, launch 2 (no raw file): its job ended early; "
        f"logs: {began.parent}; to retry, repeat the command with: -R {second}",
        "not started: 2; to measure the rest, repeat the command",
        "to report on the existing launches now, repeat the command with partial=true behind --config",
    ]
    second, third = (Files(Path(path)) for path in [*asked][1:3])
    reasons = {second: "no space", third: "Slurm refused its job: Invalid qos"}
    told = str(failures.find(asked, reasons=reasons))
    assert f"launch 2 (no raw file): no space; logs: {began.parent}; to retry, " in told
    assert "launch 3 (no raw file): Slurm refused its job: Invalid qos; to retry, " in told


@pytest.mark.parametrize(
    ("hole", "fails", "step"),
    [
        ("not built", False, "to retry, "),
        ("of an unknown kind", True, "to retry, "),
        ("exception", True, "once the code is correct, the next run retries it; to retry, "),
        ("no value", True, "once the code is correct, the next run retries it; to retry, "),
        ("host in use", True, "the next run retries it"),
    ],
)
def test_each_kind_has_its_next_step_and_only_what_cannot_be_built_does_not_fail_the_run(asked, hole, fails, step):
    first, *_ = asked
    write(first, hole=hole)
    found = failures.find({first: asked[first]})
    assert found.fails is fails
    assert f"launch 1 ({hole}): it broke; {step}" in str(found)


def test_launches_that_keep_their_old_receipt_although_they_were_due_are_listed(asked):
    first, second, third, fourth, fifth = asked
    for path in asked:
        write(path, "hole" if path == fourth else "measured", run=RUN if path == first else "earlier")
    began = log(second, "toy node launch 2: visit 3 of 9\n")
    due = {path: asked[path] for path in (first, second, third, fourth)}
    kept = "not remeasured (exception): it broke; the earlier measurement stays"
    assert str(failures.find(asked, due, {Files(Path(second)): kept})).splitlines() == [
        "3 launches of this run were not measured",
        f"not measured: toy, placement node, launch 2 (no raw file): {kept}; logs: {began.parent}; to retry, "
        f"repeat the command with: -R {second}",
        "not started: 2; to measure the rest, repeat the command",
        "to report on the existing launches now, repeat the command with partial=true behind --config",
    ]
    assert str(failures.find({first: asked[first], fifth: asked[fifth]}, [first])) == ""
    # A run that measured everything says nothing.
    found = failures.find({first: asked[first]})
    assert (str(found), found.fails) == ("", False)


@pytest.mark.parametrize("after", [-HOUR, HOUR])
def test_a_clock_that_jumps_by_an_hour_moves_no_launch_into_another_run(asked, after):
    first, second, third, *_ = asked
    write(first, "measured", after=after)
    assert str(failures.find({first: asked[first]}, [first])) == ""
    write(second, "measured", run="earlier", after=after)
    assert "not started: 1;" in str(failures.find({second: asked[second]}, [second]))
    log(third, "toy node launch 3: visit 3 of 9\n", after=after)
    assert "its job ended early" in str(failures.find({third: asked[third]}))
    write(third, reason="of this run", after=after)
    assert "of this run" in str(failures.find({third: asked[third]}))
