"""Does the second sweep measure exactly the cells of the refinement?"""

import json
from pathlib import Path

import pytest

from crossover.config import schema
from crossover.design.settings import canonical
from crossover.errors import CrossoverError
from crossover.planning import plan, second_sweep
from crossover.planning.plan import SECOND_SWEEP, heats

NARROWED = {"cells": {"empty tasks, engines: 2": [10, 18, 32]}, "budget_seconds": 1.5}


def complete(folder, **chosen):
    experiments = {"task_latency": {"refine_points": 3, "placements": ["node"]}, "mpi_pingpong": {}}
    return schema.complete({"results": str(folder), "experiments": experiments} | chosen)


@pytest.fixture
def config(tmp_path):
    """A run after its first sweep, with crossovers in launches 2 and 3 of a task farm."""
    config = complete(tmp_path)
    refined(config, {"node": {str(SECOND_SWEEP + number): NARROWED for number in (2, 3)}})
    return config


def refined(config, found):
    path = Path(
        second_sweep.REFINEMENT.format(results=config["results"], tier=config["tier"], experiment="task_latency")
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found))


def launch(number, experiment="task_latency"):
    return {"experiment": experiment, "placement": "node", "launch": number}


def test_the_first_sweep_is_as_planned(config):
    own = plan.of_launch("task_latency", plan.settings_of(config, "task_latency"), "node", 2)
    assert second_sweep.settings_of(config, launch(2)) == own
    assert "cells" not in own


def test_a_launch_of_the_second_differs_from_the_first_only_in_cells_and_budget(config):
    first, second = (second_sweep.settings_of(config, launch(number)) for number in (2, SECOND_SWEEP + 2))
    assert second == first | NARROWED


def test_a_repeated_launch_has_the_same_heat():
    chosen = {"arms": list("abcd"), "reference": "a", "rivals_per_heat": 1, "budget_seconds": 1}
    for number in range(1, 10):
        first, second = (plan.of_launch("zmq_latency", chosen, "node", number + beyond) for beyond in (0, SECOND_SWEEP))
        assert first == second


def test_the_launches_are_those_of_the_refinement(config):
    assert second_sweep.launches(config, "task_latency") == [launch(SECOND_SWEEP + 2), launch(SECOND_SWEEP + 3)]
    assert second_sweep.launches(config, "mpi_pingpong") == []


def test_a_farm_that_does_not_authenticate_has_no_launch_in_it(tmp_path):
    with_dask = {"task_latency": {"arms": ["leastload", "dask unencrypted"], "placements": ["node"]}}
    config = complete(tmp_path, experiments=with_dask)
    refined(config, {"node": {str(SECOND_SWEEP + 1): NARROWED}})
    assert second_sweep.launches(config, "task_latency") == []
    allowed = config | {"unauthenticated_farms": True}
    assert second_sweep.launches(allowed, "task_latency") == [launch(SECOND_SWEEP + 1)]


def test_a_launch_that_it_does_not_name_is_none_with_the_whole_axis(config):
    with pytest.raises(CrossoverError, match=r"refinement\.json: has no launch 10001 in placement node"):
        second_sweep.settings_of(config, launch(SECOND_SWEEP + 1))


def test_launch_numbers_of_the_two_sweeps_do_not_overlap(tmp_path):
    """Even at the most launches that the check of the configuration allows."""
    names = list(schema.complete({})["experiments"])
    paper = complete(tmp_path, tier="paper", experiments={name: {} for name in names})
    turns = {name: len(heats(name, plan.settings_of(paper, name))) for name in names}
    most = {name: {"launches": SECOND_SWEEP // count} for name, count in turns.items()}
    everyone = complete(tmp_path, tier="paper", experiments=most, unauthenticated_farms=True)
    numbers = [each["launch"] for each in plan.launches(everyone | {"hosts": 2})]
    assert SECOND_SWEEP - max(turns.values()) < max(numbers) <= SECOND_SWEEP
    for name in names:
        with pytest.raises(CrossoverError, match=rf"experiments\.{name}\.launches: "):
            complete(tmp_path, tier="paper", experiments={name: {"launches": most[name]["launches"] + 1}})


def test_the_settings_of_a_heat_are_made_once_for_all_its_launches(config, monkeypatch):
    made, make = [], plan.of_launch
    monkeypatch.setattr(plan, "of_launch", lambda *launch: made.append(launch) or make(*launch))
    of_launch = second_sweep.of_launches(config)
    every = [of_launch(launch(number)) for number in range(1, 1001)]
    count = len(heats("task_latency", plan.settings_of(config, "task_latency")))
    assert len(made) == count < 10
    assert every[0] is every[count] == make("task_latency", plan.settings_of(config, "task_latency"), "node", count + 1)


def test_a_new_refinement_is_read_in_the_same_process(config):
    of_launch = second_sweep.of_launches(config)
    assert of_launch(launch(SECOND_SWEEP + 2))["budget_seconds"] == NARROWED["budget_seconds"]
    refined(config, {"node": {str(SECOND_SWEEP + 2): NARROWED | {"budget_seconds": 1.25}}})
    assert of_launch(launch(SECOND_SWEEP + 2))["budget_seconds"] == 1.25


def test_the_quick_tiers_have_no_second_sweep_and_paper_has_all():
    wanted = {"smoke": {False}, "quick": {False}, "standard": {False, True}, "paper": {True}}
    for tier, some in wanted.items():
        experiments = schema.complete({"tier": tier})["experiments"].values()
        assert {bool(own["refine_points"]) for own in experiments if "refine_points" in own} == some, tier


def test_an_unknown_metric_is_refused():
    with pytest.raises(CrossoverError, match=r"mpi_pingpong\.refine_metric: 'speed' is not one of round trip"):
        schema.complete({"experiments": {"mpi_pingpong": {"refine_metric": "speed"}}})


def test_a_launch_of_the_second_sweep_keeps_its_cells_only_with_the_same_settings(config):
    beyond = launch(SECOND_SWEEP + 2)
    settings = second_sweep.settings_of(config, launch(2)) | NARROWED
    assert second_sweep.differs_only_in_cells(config, beyond, json.loads(canonical(settings)))
    assert not second_sweep.differs_only_in_cells(config, beyond, settings | {"target_width": 0.5})
