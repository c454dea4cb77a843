"""Does the page give the possible bias and the precision?"""

import pytest
from campaigns import Campaign, lasting, mpi, zmq

from crossover.report.pages.index import Page
from crossover.report.text import certainty

LEADS = {"zmq_throughput": "throughput", "mpi_pingpong": "round trip"}


def of(curve, **changes):
    """A row that names a curve."""
    shared = {
        "experiment": curve.experiment, "placement": "node", "protocol": curve.protocol, "metric": curve.metric,
        "arm": curve.arm, "reference": curve.reference, "launches": 3, "cells": 13,
    }  # fmt: skip
    return shared | changes


def sensitivity(curve, effect=1.031, resolution=1.052, **changes):
    return of(curve, null_cells=13, smallest_effect=effect, resolution=resolution, **changes)


def test_bias_stands_beside_chance():
    assert [list(line.values()) for line in certainty.sure([sensitivity(zmq())])] == [
        ["`zmq_throughput`", zmq().protocol, "`no-copy` / `copy`", "3.1 %", "±5.2 %"]
    ]


def test_an_unknown_number_is_a_dash():
    (line,) = certainty.sure([sensitivity(zmq(), None, None)])
    assert list(line.values())[-2:] == ["–", "–"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            [sensitivity(zmq())],
            "leave room for a bias of up to 3.1 % (13 null cells); the precision of the rivals is ±5.2 %.",
        ),
        (
            [sensitivity(zmq()), sensitivity(zmq(arm="default"), resolution=1.09)],
            "the precision of the rivals is ±5.2 % at best, ±9 % at worst.",
        ),
        (
            [sensitivity(zmq(), 1.0)],
            "the null arms show no bias (13 null cells); the precision of the rivals is ±5.2 %.",
        ),
        ([sensitivity(zmq(), None)], "no null arm was replicated"),
        ([sensitivity(zmq()) | {"null_cells": 2}], "(2 null cells; so few can hide a bias that differs from point to"),
        (
            [sensitivity(zmq(), resolution=None)],
            "leave room for a bias of up to 3.1 % (13 null cells); no arm was replicated.",
        ),
    ],
)
def test_each_experiment_and_placement_has_a_sentence(rows, words):
    told = certainty.sentences(rows)
    assert told.startswith("- `zmq_throughput` in placement `node`, throughput:")
    assert words in told


def test_placements_are_separate():
    told = certainty.sentences([sensitivity(zmq()), sensitivity(zmq(), placement="process")])
    assert told.count("\n") == 1
    assert certainty.sure([sensitivity(zmq(), placement="process")])[0]["experiment"] == "`zmq_throughput` (process)"


# ---- on the page


def test_the_page_lists_only_leading_metrics_in_the_order_of_its_sections(tmp_path):
    curves = [mpi(), zmq(), zmq(metric="bandwidth")]
    rows = {"sensitivity": [sensitivity(curve) for curve in curves]}
    page = Page(LEADS, Campaign(curves, estimated=rows).write_tables(tmp_path))
    assert [line.split(" | ")[0].strip("| ") for line in str(page.sure().data).splitlines()[2:]] == [
        "`zmq_throughput`",
        "`mpi_pingpong`",
    ]
    assert str(page.certainty().data).count("null arms") == 2


def test_a_changed_table_changes_the_text(tmp_path):
    said = []
    for number, effect in enumerate((1.031, 1.072)):
        rows = {"sensitivity": [sensitivity(zmq(), effect)]}
        page = Page(LEADS, Campaign([zmq()], estimated=rows).write_tables(tmp_path / str(number)))
        said.append((page.certainty().data, page.sure().data))
    assert all(("3.1 %" in first, "7.2 %" in second) == (True, True) for first, second in zip(*said, strict=True))
    assert not any("3.1 %" in text for text in said[1])


def test_without_rows_the_page_says_so(tmp_path):
    page = Page(LEADS, Campaign([lasting()]).write_tables(tmp_path))
    assert page.certainty().data == page.sure().data == "No arm could be compared with another."
