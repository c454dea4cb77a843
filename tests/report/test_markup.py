"""Do the parts of the page stay whole with any text in them?"""

from crossover.report.base.markup import table


def test_a_bar_in_a_cell_does_not_end_it():
    assert table([{"a": "x|y"}]).splitlines()[2] == "| x\\|y |"
