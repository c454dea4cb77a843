"""Are a farm's options, packages and hosts read from its file, in every form that Python allows?"""

import pytest

from crossover.config import schema
from crossover.errors import CrossoverError
from crossover.planning import farms


@pytest.fixture
def farm(tmp_path, monkeypatch):
    """Writes a farm with this text; returns its name."""
    for shipped in farms.FOLDER.glob("*.py"):
        (tmp_path / shipped.name).symlink_to(shipped)
    monkeypatch.setattr(farms, "FOLDER", tmp_path)

    def write(text):
        (tmp_path / "mine.py").write_text(text)
        return "mine"

    return write


OPTIONS = {
    "a class": "class Entrant:\n    def __init__(self, peers, ranks, size: int, *, fast: bool = False, name: str): ...",
    "a function": "def Entrant(peers, ranks, size: int, *, fast: bool = False, name: str): ...",
    "in order": "class Entrant:\n  def __init__(self, peers, ranks, /, size: int, name: str, fast: bool = False): ...",
}


@pytest.mark.parametrize("form", OPTIONS)
def test_options_are_read_by_position_and_by_name(farm, form):
    own, required = farms.options(farm(OPTIONS[form]))
    assert own == {"size": farms.TYPES["int"], "fast": farms.TYPES["bool"], "name": farms.TYPES["str"]}
    assert sorted(required) == ["name", "size"]


def test_an_entrant_may_have_an_option_by_name(farm):
    mine = {"farm": farm(OPTIONS["a class"]), "size": 2, "name": "x"}
    assert schema.complete({"entrants": {"mine": mine}})["entrants"]["mine"] == mine
    with pytest.raises(CrossoverError, match=r"entrants\.mine\.fast: 'no' is not of type boolean"):
        schema.complete({"entrants": {"mine": mine | {"fast": "no"}}})


def test_a_farm_without_options_has_none(farm):
    assert farms.options(farm("class Entrant(Farm): ...")) == ({}, [])


@pytest.mark.parametrize("text", ["ONE_HOST = True", "ONE_HOST: bool = True", "ONE_HOST: Final = True"])
def test_a_farm_of_one_host_does_not_cross_hosts(farm, text):
    assert not farms.crosses_hosts({"farm": farm(text)})


def test_annotated_packages_are_recorded(farm):
    assert farms.packages(farm('PACKAGES: tuple[str, ...] = ("numpy",)')) == ("numpy",)


def test_a_farm_that_sets_nothing_crosses_hosts_and_has_no_packages(farm):
    name = farm("def f():\n    return ONE_HOST")
    assert farms.crosses_hosts({"farm": name}) and farms.packages(name) == ()


def test_a_farm_authenticates_unless_it_says_otherwise(farm):
    assert not farms.authenticates({"farm": farm("AUTHENTICATES: bool = False")})
    assert [name for name in farms.names() if not farms.authenticates({"farm": name})] == ["mine"]


def test_a_farm_may_authenticate_only_with_an_option(farm):
    mine = farm('AUTHENTICATES = "encrypted"')
    found = [farms.authenticates({"farm": mine} | given) for given in ({}, {"encrypted": True}, {"encrypted": False})]
    assert found == [True, True, False]


UNREADABLE = {
    "a call": ("\nONE_HOST = bool(1)", 2),
    "a condition": ("import sys\nif sys.platform:\n    ONE_HOST = True", 3),
    "a pair": ("ONE_HOST, PACKAGES = True, ()", 1),
    "twice": ("ONE_HOST = True\nONE_HOST = False", 2),
    "an import": ("from elsewhere import ONE_HOST", 1),
    "no value": ("ONE_HOST: bool", 1),
}


@pytest.mark.parametrize("form", UNREADABLE)
def test_a_value_that_only_an_import_would_tell_is_refused_with_its_line(farm, form):
    text, line = UNREADABLE[form]
    name = farm(text)
    with pytest.raises(CrossoverError) as refused:
        farms.crosses_hosts({"farm": name})
    said = str(refused.value)
    assert f"mine.py, line {line}: ONE_HOST is not a single literal" in said
    assert said.endswith("write one line at the top level, such as `ONE_HOST = True`")


def test_the_check_of_the_configuration_finds_it(farm):
    with pytest.raises(CrossoverError, match=r"mine\.py, line 1: PACKAGES is not a single literal"):
        schema.complete({"entrants": {"mine": {"farm": farm("PACKAGES = tuple('a')")}}})
