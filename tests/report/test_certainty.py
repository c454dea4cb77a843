"""Does the page give the possible bias and the precision?"""

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
        ["`zmq_throughput`", zmq().protocol, "`no-copy` / `copy`", "3.1 %", "13", "±5.2 %"]
    ]


def test_another_placement_is_named():
    assert certainty.sure([sensitivity(zmq(), placement="process")])[0]["experiment"] == "`zmq_throughput` (process)"


def test_an_unknown_number_is_a_dash():
    (line,) = certainty.sure([sensitivity(zmq(), None, None)])
    assert list(line.values())[-3:] == ["–", "13", "–"]


# ---- on the page


def test_the_page_lists_only_leading_metrics_in_the_order_of_its_sections(tmp_path):
    curves = [mpi(), zmq(), zmq(metric="bandwidth")]
    rows = {"sensitivity": [sensitivity(curve) for curve in curves]}
    page = Page(LEADS, Campaign(curves, estimated=rows).write_tables(tmp_path))
    assert [line.split(" | ")[0].strip("| ") for line in str(page.sure().data).splitlines()[2:]] == [
        "`zmq_throughput`",
        "`mpi_pingpong`",
    ]


def test_a_changed_table_changes_the_text(tmp_path):
    said = []
    for number, effect in enumerate((1.031, 1.072)):
        rows = {"sensitivity": [sensitivity(zmq(), effect)]}
        page = Page(LEADS, Campaign([zmq()], estimated=rows).write_tables(tmp_path / str(number)))
        said.append(page.sure().data)
    assert ("3.1 %" in said[0], "7.2 %" in said[1], "3.1 %" in said[1]) == (True, True, False)


def test_without_rows_the_page_says_so(tmp_path):
    page = Page(LEADS, Campaign([lasting()]).write_tables(tmp_path))
    assert page.sure().data == "No arm could be compared with another."
