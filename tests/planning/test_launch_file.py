"""Is a launch the same after it was written and read?"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossover.design.launch import Launch
from crossover.errors import CrossoverError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.text(), st.integers(1), st.dictionaries(st.text(), VALUES, max_size=4))
def test_a_launch_survives_its_file(tmp_path_factory, experiment, number, settings):
    launch = Launch(experiment, number, settings | {"placement": "node"})
    file = tmp_path_factory.mktemp("launch") / "logs" / "1.json"
    launch.write(file)
    assert Launch.read(file) == launch
    assert [path.name for path in file.parent.iterdir()] == ["1.json"]


def test_its_name_and_its_columns():
    launch = Launch("toy", 3, {"placement": "nodes"})
    assert str(launch) == "toy nodes launch 3"
    assert launch.identity == {"experiment": "toy", "placement": "nodes", "launch": 3}


@pytest.mark.parametrize("text", ["[]", "{}", json.dumps({"experiment": "toy"}), "no JSON"])
def test_a_file_of_another_kind_is_refused(tmp_path, text):
    (tmp_path / "launch.json").write_text(text)
    with pytest.raises(CrossoverError, match="describes no launch; delete it"):
        Launch.read(tmp_path / "launch.json")
