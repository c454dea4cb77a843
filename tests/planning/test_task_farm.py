"""Are a farm's options, hosts and safety read from its declaration?"""

from dataclasses import dataclass
from typing import Annotated, Literal

import pytest

from crossover.config import schema
from crossover.config.yaml_file import faults_of
from crossover.design import farms
from crossover.design.farms import TaskFarm


@dataclass(frozen=True)
class Options:
    """Options of every type."""

    size: Annotated[int, "how large"]
    kind: Annotated[Literal["a", "b"], "which kind"]
    name: str = ""
    fast: bool = False
    factor: float = 1.5


MINE = TaskFarm(place=1, options=Options)


def test_options_have_meanings_and_defaults():
    assert MINE.required == ["size", "kind"]
    assert MINE.meanings == {"size": "how large", "kind": "which kind", "name": "", "fast": "", "factor": ""}
    assert MINE.made({"farm": "mine", "alone": True, "size": 2, "kind": "a"}) == Options(2, "a")


def test_a_configured_entrant_is_checked_against_them(monkeypatch):
    monkeypatch.setattr(farms, "declared", lambda: {"mine": MINE})
    mine = {"farm": "mine", "size": 2, "kind": "a"}

    def faults(entrant):
        return faults_of(schema._farm_model("mine"), entrant)

    assert faults(mine) == []
    assert faults(mine | {"fast": "no"}) == ["fast: Input should be a valid boolean (here: 'no')"]
    assert faults(mine | {"size": -1}) == ["size: Input should be greater than or equal to 0 (here: -1)"]
    assert faults({"farm": "mine", "size": 2}) == ["kind: Field required"]
    assert faults(mine | {"speed": 1}) == ["speed: unknown key (here: 1)"]


@pytest.mark.parametrize(("one_host", "given", "crosses"), [(True, {}, False), (False, {}, True), ("fast", {}, True)])
def test_a_farm_may_be_limited_to_one_host(one_host, given, crosses):
    farm = TaskFarm(place=1, options=Options, one_host=one_host)
    entrant = {"farm": "mine", "size": 1, "kind": "a"} | given
    assert farm.crosses_hosts(entrant) == crosses
    if one_host == "fast":
        assert not farm.crosses_hosts(entrant | {"fast": True})


def test_a_farm_authenticates_unless_it_says_otherwise():
    entrant = {"farm": "mine", "size": 1, "kind": "a"}
    assert MINE.obeys_its_launch_alone(entrant)
    assert not TaskFarm(place=1, options=Options, authenticates=False).obeys_its_launch_alone(entrant)
    optional = TaskFarm(place=1, options=Options, authenticates="fast")
    assert [optional.obeys_its_launch_alone(entrant | {"fast": fast}) for fast in (True, False)] == [True, False]


def test_every_shipped_entrant_fits_its_farm():
    assert schema.complete({"farms": farms.arms()}) == schema.complete({})
