"""Do the table of costs and the picture of crossovers show the numbers of the run's tables?"""

import html
import re

import pytest
from campaigns import Campaign, mpi, run, steps, zmq

from crossover.report.charts import crossings, overview
from crossover.report.text import choices

IPC = "PUSH/PULL over ipc, 64 MB in flight"


def panels(*curves):
    tables = run(Campaign(list(curves)))
    return [panel for name in tables.experiments for panel in tables.leading(name)]


def test_a_cell_of_the_costs_is_the_bound_rounded_up_and_the_choice_is_framed():
    tables = run(Campaign([steps((0.4, 0.6), (0.7, 1.5), (0.95, 1.1), (1.8, 2.2))]))
    (curve,) = choices.curves(tables)
    rows = re.findall(r"<tr><th[^>]*><b[^>]*>(.*?)</b></th>(.*?)</tr>", overview.costs(curve))
    assert {html.unescape(arm) for arm, _ in rows} == {*curve.rows[0].candidates}
    for arm, cells in rows:
        told = re.findall(r'<td( class="chosen")? style="--share:(\d+)%">(.*?)</td>', cells)
        for row, (frame, share, bound) in zip(curve.rows, told, strict=True):
            assert bool(frame) == (row.choice == arm)
            assert float(bound) >= row.candidates[arm] - 1e-6 and float(bound) <= 1.1 * row.candidates[arm]
            assert (int(share) == 0) == (row.candidates[arm] < 1.02)


def test_a_candidate_without_a_bound_at_a_point_has_a_dash():
    tables = run(Campaign([steps((0.4, 0.6), (1.8, 2.2))]))
    del tables.choices[0].candidates["no-copy"]
    assert overview.costs(choices.curves(tables)[0]).count(">–</td>") == 1


def test_every_crossover_of_the_tables_is_in_the_picture_and_every_other_pair_is_counted():
    curves = [zmq(centre=2900.0), steps((1.8, 2.2), (1.8, 2.2), protocol=IPC), mpi()]
    text = crossings.picture(panels(*curves))
    assert re.findall(r'class="told">(.*?)</td>', text) == ["faster above 2.9 kB [2.2, 3.8 kB]"]
    assert text.count('class="point crossover"') == text.count('class="cell interval"') == 1
    told = crossings.rest(panels(*curves))
    assert told.startswith("2 pairs of arms without a single crossover: 2 differ in one direction")


@pytest.mark.parametrize("nothing", [[], [zmq(launches=1)], [mpi()]])
def test_without_a_crossover_there_is_no_picture(nothing):
    assert crossings.picture(panels(*nothing)) == ""
