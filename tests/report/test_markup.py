"""Do the parts of the page stay whole with any text in them?"""

import pytest

from crossover.report.text import markup


def test_a_bar_in_a_cell_does_not_end_it():
    assert markup.table([{"a": "x|y"}]).splitlines()[2] == "| x\\|y |"


def test_cells_are_under_their_headings_in_any_order():
    swapped = markup.table([{"arm": "copy", "at": "1 kB"}, {"at": "2 kB", "arm": "no-copy"}])
    assert swapped.splitlines()[2:] == ["| copy | 1 kB |", "| no-copy | 2 kB |"]


def test_a_line_without_a_cell_is_refused():
    with pytest.raises(KeyError):
        markup.table([{"arm": "copy", "at": "1 kB"}, {"arm": "no-copy"}])
