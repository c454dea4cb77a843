"""Are a farm's options, hosts and safety read from its declaration?"""

from dataclasses import dataclass
from typing import Annotated, Literal

import pytest

from crossover import farms
from crossover.config import schema
from crossover.design.task_farm import TYPES, TaskFarm
from crossover.errors import CrossoverError


@dataclass(frozen=True)
class Options:
    """Options of every type."""

    size: Annotated[int, "how large"]
    kind: Annotated[Literal["a", "b"], "which kind"]
    name: str = ""
    fast: bool = False
    factor: float = 1.5


MINE = TaskFarm(place=1, options=Options)


def test_options_have_types_meanings_and_defaults():
    assert MINE.allowed == {
        "size": TYPES[int],
        "kind": {"enum": ["a", "b"]},
        "name": TYPES[str],
        "fast": TYPES[bool],
        "factor": TYPES[float],
    }
    assert MINE.required == ["size", "kind"]
    assert MINE.meanings == {"size": "how large", "kind": "which kind", "name": "", "fast": "", "factor": ""}
    assert MINE.made({"farm": "mine", "alone": True, "size": 2, "kind": "a"}) == Options(2, "a")


def test_a_configured_entrant_is_checked_against_them(monkeypatch):
    monkeypatch.setattr(farms, "declared", lambda: {"mine": MINE})
    monkeypatch.setattr(farms, "names", lambda: ["mine"])
    mine = {"farm": "mine", "size": 2, "kind": "a"}
    assert list(schema._misfits(mine)) == []
    assert list(schema._misfits(mine | {"fast": "no"})) == ["fast: 'no' is not of type boolean"]
    assert list(schema._misfits({"farm": "mine", "size": 2})) == ["kind: is missing; mine needs one"]
    assert "speed: unknown key" in next(schema._misfits(mine | {"speed": 1}))
    assert list(schema._misfits({"farm": "yours"})) == ["farm: unknown farm 'yours'; available: mine"]


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
    for entrant in farms.entrants().values():
        assert list(schema._misfits(entrant)) == []


def test_the_configuration_names_a_wrong_option_of_a_farm():
    with pytest.raises(CrossoverError, match=r"entrants\.mine\.hwm: 'no' is not of type integer"):
        schema.complete({"entrants": {"mine": {"farm": "ipyparallel", "scheme": "pure", "hwm": "no"}}})
