"""Are launches that were added kept, and never lost by a broken file?"""

import pytest

from crossover.config import schema
from crossover.errors import CrossoverError
from crossover.workflow import replication

EXPERIMENTS = {"zmq_latency": {"launches": 3}, "zmq_bursts": {"launches": 5}}


@pytest.fixture
def config(tmp_path):
    return schema.complete({"results": str(tmp_path), "experiments": EXPERIMENTS})


def test_launches_are_only_ever_raised(tmp_path, config):
    assert replication.replicated(config) == config
    replication.want(str(tmp_path), "quick", {"zmq_latency": 6, "zmq_bursts": 4, "gone": 2})
    replication.want(str(tmp_path), "quick", {"zmq_latency": 5})
    replication.want(str(tmp_path), "paper", {"zmq_bursts": 50})
    found = replication.replicated(config).experiments
    assert {name: own.launches for name, own in found.items()} == {"zmq_latency": 6, "zmq_bursts": 5}
    assert config.experiments["zmq_latency"].launches == 3, "the configuration itself must not change"


@pytest.mark.parametrize(
    "text", ["{", "[1]", '{"a": "many"}', '{"a": null}', '{"a": 1000000000}', "[" * 200_000, '{"a": 0}']
)
def test_a_broken_file_is_named_with_the_remedy(tmp_path, config, text):
    replication.want(str(tmp_path), "quick", {"a": 6})
    file = tmp_path / "raw" / "quick" / "launches.json"
    file.write_text(text)
    with pytest.raises(CrossoverError, match=f"{file}: cannot be read .*; delete it to have as many launches"):
        replication.replicated(config)
