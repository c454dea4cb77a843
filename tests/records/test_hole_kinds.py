"""Is each kind of hole stated once, and does a run explain its missing parts?"""

import ast

import pytest

from crossover.paths import PACKAGE
from crossover.records import holes
from crossover.records.holes import HoleKind

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
    return row | {"hole": hole, "reason": reason}


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


def test_holes_of_one_kind_and_reason_are_one_group():
    others = [launch(3, hole="timed out"), launch(4, reason="it fell"), launch(5, placement="nodes")]
    assert holes.alike([HOLE, MEASURED, *others, launch(6)]) == [[HOLE, launch(6)], *([each] for each in others)]
