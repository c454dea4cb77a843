"""Do the pieces of the page stay whole, whatever text is put into them?"""

from crossover.report.base.markup import table


def test_a_bar_in_a_cell_does_not_end_it():
    assert table([{"a": "x|y"}]).splitlines()[2] == "| x\\|y |"
