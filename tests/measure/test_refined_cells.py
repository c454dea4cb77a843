"""Does a launch of the refinement measure exactly the cells in its settings?"""

from dataclasses import replace

import pytest

from crossover.config import schema
from crossover.design.protocol import identity
from crossover.design.settings import Refined
from crossover.experiments import declared
from crossover.measure.launch import conduct, driver
from crossover.planning import plan
from crossover.records.holes import Refusal

CONFIG = schema.complete({"tier": "standard"})
REFINED = [name for name, own in CONFIG.experiments.items() if isinstance(own, Refined)]


def settings_of(name):
    return plan.launch(CONFIG, name, CONFIG.experiments[name].placements[0], 1).settings


@pytest.mark.parametrize("name", REFINED)
def test_every_curve_can_be_measured_at_any_point_with_its_arms(name):
    kind, settings = driver.find(name), settings_of(name)
    first = kind.cells(settings)
    for curve in {identity(cell.keys) for cell in first}:
        arms = {cell.x: cell.arms for cell in first if identity(cell.keys) == curve}
        beside = {x + 1: arms[x] for x in arms}
        cells = conduct._cells(kind, replace(settings, cells={curve: [*beside]}))
        assert {identity(cell.keys) for cell in cells} == {curve}
        assert [(cell.x, cell.arms) for cell in cells if cell.x > 50] == [
            (x, own) for x, own in beside.items() if x > 50
        ]


def test_without_cells_in_its_settings_a_launch_measures_all():
    kind, settings = driver.find("mpi_pingpong"), settings_of("mpi_pingpong")
    assert conduct._cells(kind, settings) == kind.cells(settings)


def test_curves_that_this_host_lacks_are_left_out_and_no_curve_at_all_is_a_hole():
    kind, settings = driver.find("mpi_pingpong"), settings_of("mpi_pingpong")
    here = identity(kind.cells(settings)[0].keys)
    assert [cell.x for cell in conduct._cells(kind, replace(settings, cells={"elsewhere": [1], here: [2]}))] == [2]
    with pytest.raises(Refusal, match="on the curves elsewhere, which this host does not measure"):
        conduct._cells(kind, replace(settings, cells={"elsewhere": [1]}))


@pytest.mark.parametrize("name", REFINED)
def test_the_metrics_that_can_be_refined_are_measured(name):
    known = [metric.name for metric in declared()[name].metrics]
    assert [*declared()[name].names("refine_metric")] == known
