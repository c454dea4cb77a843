"""Does the refinement measure exactly the cells of its plan?"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from crossover.config import schema
from crossover.design.launch import MOST_LAUNCHES
from crossover.design.settings import Refined
from crossover.errors import CrossoverError
from crossover.planning import plan, refinement

NARROWED = {"cells": {"empty tasks, engines: 2": [10, 18, 32]}, "budget_seconds": 1.5}


def complete(folder, **chosen):
    experiments = {"task_latency": {"refine_points": 3, "placements": ["node"]}, "mpi_pingpong": {}}
    return schema.complete({"results": str(folder), "experiments": experiments} | chosen)


@pytest.fixture
def config(tmp_path):
    """A run after its first launches, with crossovers in launches 2 and 3 of a task farm."""
    config = complete(tmp_path)
    refined(config, {"node": {str(MOST_LAUNCHES + number): NARROWED for number in (2, 3)}})
    return config


def refined(config, found):
    path = Path(refinement.REFINEMENT.format(results=config.results, tier=config.tier, experiment="task_latency"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found))


def launch(config, number, experiment="task_latency"):
    return refinement.launch(config, experiment, "node", number)


def test_a_launch_of_the_second_differs_from_the_first_only_in_cells_and_budget(config):
    first, second = (launch(config, number).settings.stored for number in (2, MOST_LAUNCHES + 2))
    assert "cells" not in first
    assert second == first | NARROWED


def test_the_launches_are_those_of_the_refinement(config):
    assert refinement.launches(config, "task_latency") == [
        launch(config, MOST_LAUNCHES + 2),
        launch(config, MOST_LAUNCHES + 3),
    ]
    assert refinement.launches(config, "mpi_pingpong") == []


def test_a_farm_that_does_not_authenticate_has_no_launch_in_it(tmp_path):
    with_dask = {"task_latency": {"arms": ["leastload", "dask unencrypted"], "placements": ["node"]}}
    config = complete(tmp_path, experiments=with_dask)
    refined(config, {"node": {str(MOST_LAUNCHES + 1): NARROWED}})
    assert refinement.launches(config, "task_latency") == []
    allowed = replace(config, unauthenticated_farms=True)
    assert refinement.launches(allowed, "task_latency") == [launch(allowed, MOST_LAUNCHES + 1)]


def test_a_launch_that_it_does_not_name_is_none_with_the_whole_axis(config):
    with pytest.raises(CrossoverError, match=r"refinement\.json: has no launch 10001 in placement node"):
        launch(config, MOST_LAUNCHES + 1)


def test_launch_numbers_of_the_first_launches_and_the_refinement_do_not_overlap(tmp_path):
    """Even at the most launches that the check of the configuration allows."""
    names = list(schema.complete({}).experiments)
    paper = complete(tmp_path, tier="paper", experiments={name: {} for name in names})
    turns = {name: len(own.turns()) for name, own in paper.experiments.items()}
    most = {name: {"launches": MOST_LAUNCHES // count} for name, count in turns.items()}
    everyone = complete(tmp_path, tier="paper", experiments=most, unauthenticated_farms=True)
    numbers = [each.number for each in plan.launches(replace(everyone, hosts=2))]
    assert MOST_LAUNCHES - max(turns.values()) < max(numbers) <= MOST_LAUNCHES
    for name in names:
        with pytest.raises(CrossoverError, match=rf"experiments\.{name}\.launches: "):
            complete(tmp_path, tier="paper", experiments={name: {"launches": most[name]["launches"] + 1}})


def test_launches_that_repeat_each_other_share_their_settings(config):
    every = list(plan.launches(config, "task_latency"))
    repeated = [each for each in every if each.repetition]
    assert repeated and all(each.settings in [own.settings for own in every[:9]] for each in repeated)
    assert len({id(each.settings) for each in every}) < len(every)


def test_a_new_refinement_is_read_in_the_same_process(config):
    assert launch(config, MOST_LAUNCHES + 2).settings.seconds == NARROWED["budget_seconds"]
    refined(config, {"node": {str(MOST_LAUNCHES + 2): NARROWED | {"budget_seconds": 1.25}}})
    assert launch(config, MOST_LAUNCHES + 2).settings.seconds == 1.25


def test_the_quick_tiers_have_no_refinement_and_paper_has_all():
    wanted = {"smoke": {False}, "quick": {False}, "standard": {False, True}, "paper": {True}}
    for tier, some in wanted.items():
        experiments = schema.complete({"tier": tier}).experiments.values()
        assert {bool(own.points_refined) for own in experiments if isinstance(own, Refined)} == some, tier


def test_an_unknown_metric_is_refused():
    with pytest.raises(CrossoverError, match=r"mpi_pingpong\.refine_metric: Input should be 'round trip'"):
        schema.complete({"experiments": {"mpi_pingpong": {"refine_metric": "speed"}}})


def test_a_launch_of_the_refinement_keeps_its_cells_only_with_the_same_settings(config):
    planned = plan.launch(config, "task_latency", "node", MOST_LAUNCHES + 2)
    stored = launch(config, 2).settings.stored | NARROWED
    assert refinement.differs_only_in_cells(planned, stored)
    assert not refinement.differs_only_in_cells(planned, stored | {"target_width": 0.5})
