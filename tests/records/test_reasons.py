"""Is each kind of hole stated once? Is a shortage recognised? Does a run explain its missing parts?"""

import ast
import errno
import json
import os
import socket

import pytest
import zmq

from crossover.errors import CrossoverError
from crossover.paths import PACKAGE
from crossover.records import holes, record
from crossover.records.holes import HoleKind
from crossover.records.rows import Launch

HOST = socket.gethostname()

ELSEWHERE = [
    node
    for path in PACKAGE.rglob("*.py")
    if str(path) != holes.__file__
    for node in ast.walk(ast.parse(path.read_text()))
]


def test_no_kind_is_repeated_elsewhere_and_each_is_used():
    texts = {node.value for node in ELSEWHERE if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert not texts & set(HoleKind)
    assert {node.attr for node in ELSEWHERE if isinstance(node, ast.Attribute)} >= set(HoleKind.__members__)


def launch(number=1, outcome="hole", placement="node", hole="crashed", reason="it `broke`"):
    row = {"experiment": "toy", "placement": placement, "launch": number, "outcome": outcome}
    return Launch.of(row | {"hole": hole, "reason": reason})


HOLE, MEASURED = launch(), launch(2, "measured", hole=None, reason=None)


@pytest.mark.parametrize(
    ("launches", "placement", "why"),
    [
        ([], "node", "`toy` has no launch in this run; list it in config/config.yaml, and run it"),
        ([HOLE], "nodes", "placement `nodes` needs a cluster (`snakemake --profile slurm`)"),
        ([HOLE], "process", "`toy` was not launched in placement `process`"),
        ([HOLE, HOLE], "node", "all its launches are holes, the first because of `crashed: it 'broke'`"),
        ([HOLE], None, "all its launches are holes, the first because of `crashed: it 'broke'`"),
        ([HOLE, MEASURED], "node", ""),
        ([HOLE, launch(placement="process", outcome="measured")], None, ""),
    ],
)
def test_why_there_are_no_data_of_an_experiment(launches, placement, why):
    assert holes.why(launches, "toy", placement) == why


def test_holes_of_one_kind_and_cause_are_one_group_whatever_sizes_they_name():
    others = [launch(3, hole="timed out"), launch(4, reason="it fell"), launch(5, placement="nodes")]
    small, large = launch(7, reason="80 B fell"), launch(8, reason="1,024.5 B fell")
    every = [HOLE, MEASURED, *others, small, launch(6), large]
    assert holes.alike(every) == [[HOLE, launch(6)], *([each] for each in others), [small, large]]


def error(number, *filename):
    return OSError(number, os.strerror(number), *filename)


def test_each_shortage_is_stated_with_its_next_step_and_nothing_else_is_one(snapshot, monkeypatch, tmp_path):
    with pytest.raises(CrossoverError) as caught:
        try:
            raise error(errno.ENOSPC, "/proc/1")
        except OSError:
            raise CrossoverError("cannot be written") from None
    raised = [error(number, "/proc/1") for number in (errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.EDQUOT)]
    raised += [zmq.ZMQError(errno.EMFILE), caught.value]
    lines = ["working", "OSError: [Errno 28] No space left on device: '/proc/x'", "Too many open files", "bye"]
    said = {repr(each): holes.fault_behind(each) for each in raised}
    said |= {"the first line": holes.fault_of_host(lines), "the next": holes.fault_of_host(lines[2:])}
    said["rank"] = holes.fault_of_host(["rank 1 on node2 was ended by signal 7 (Bus error)"])
    others = [error(errno.EACCES), ValueError("No value"), zmq.ZMQError(zmq.ETERM)]
    assert {*map(holes.fault_behind, others), holes.fault_of_host(["working", "no space for this"])} == {None}
    assert {each.kind for each in said.values()} == {HoleKind.DISTURBED}
    monkeypatch.setattr(holes, "SHARED_MEMORY", tmp_path / "shm")
    said["missing"] = holes.fault_of_host(["working"])
    written = "\n".join(f"{name}: {fault}" for name, fault in said.items())
    assert written.replace(HOST, "HOST").replace(str(tmp_path), "/x") == snapshot


def test_a_rank_keeps_a_shortage_as_its_own_kind_of_hole(tmp_path):
    file = tmp_path / "refusal"
    with pytest.raises(OSError, match="open files"), holes.reason_kept(file):
        raise error(errno.EMFILE)
    assert json.loads(file.read_text())[0] == HoleKind.DISTURBED


def test_an_exception_is_kept_as_one_bounded_line_with_its_place_in_this_package(tmp_path):
    with pytest.raises(AttributeError), holes.reason_kept(tmp_path / "first"):
        record.metadata(None)
    kind, reason = json.loads((tmp_path / "first").read_text())
    assert kind == HoleKind.EXCEPTION
    assert reason.startswith("AttributeError: 'NoneType' object has no attribute 'schema' (records/record.py, line ")
    with pytest.raises(KeyError), holes.reason_kept(tmp_path / "second"):
        raise KeyError("many\nlines " * 100)
    _, reason = json.loads((tmp_path / "second").read_text())
    assert "\n" not in reason and len(reason) < 2 * holes.LONGEST
