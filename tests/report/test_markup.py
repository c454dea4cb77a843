"""Do the pieces of the page stay whole, whatever text is put into them?"""

import pytest

from crossover.report.markup import MissingFigureError, chart, pipe_table


def test_a_missing_figure_is_named(tmp_path):
    with pytest.raises(MissingFigureError, match=r"round-trip\.vl\.json: the figure is missing"):
        chart(tmp_path / "round-trip.vl.json", "a chart")


def test_a_bar_in_a_cell_does_not_end_it():
    assert pipe_table(["a"], [["x|y"]]).splitlines()[2] == "| x\\|y |"
