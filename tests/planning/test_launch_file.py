"""Is a launch the same after it was written and read?"""

import json

import pytest

from crossover.config import schema
from crossover.design import experiments
from crossover.design.launch import Launch
from crossover.design.settings import TIERS, canonical, read_settings
from crossover.errors import CrossoverError
from crossover.planning import plan


@pytest.mark.parametrize("tier", TIERS)
def test_a_launch_survives_its_file(tmp_path, tier):
    every = {launch.settings.digest: launch for launch in plan.launches(schema.complete({"tier": tier}))}
    for launch in every.values():
        file = tmp_path / "1.json"
        file.write_text(launch.stored, encoding="utf-8")
        found = experiments.read_launch(file)
        assert (found, found.settings.stored, found.settings.ranks) == (
            launch,
            launch.settings.stored,
            launch.settings.ranks,
        )


def test_its_name_and_its_columns():
    launch = Launch("toy", "nodes", 3, schema.complete({}).experiments["mpi_pingpong"])
    assert str(launch) == "toy nodes launch 3"
    assert launch.identity == {"experiment": "toy", "placement": "nodes", "launch": 3}


@pytest.mark.parametrize(
    "text", ["[]", "{}", json.dumps({"experiment": "zmq_latency"}), "no JSON", '{"experiment": 1, "settings": 2}']
)
def test_a_file_of_another_kind_is_refused(tmp_path, text):
    (tmp_path / "launch.json").write_text(text)
    with pytest.raises(CrossoverError, match="describes no launch; delete it"):
        experiments.read_launch(tmp_path / "launch.json")


def test_the_order_of_settings_does_not_change_their_text_and_a_launch_may_have_none():
    settings = {"rounds": {"at_most": 30, "at_least": 3}, "arms": ["Köln", "null"], "budget_seconds": 0.5}
    assert read_settings(canonical(settings)) == settings
    assert canonical(dict(reversed(settings.items()))) == canonical(settings)
    assert read_settings(None) == read_settings("") == {}
