"""Do the parts of the page stay whole with any text in them?"""

from crossover.report.base.markup import pipe_table


def test_a_bar_in_a_cell_does_not_end_it():
    assert pipe_table(["a"], [["x|y"]]).splitlines()[2] == "| x\\|y |"
