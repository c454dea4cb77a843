"""Are a site's facts read correctly, and wrong ones refused with the file, the key and the reason?"""

import re

import pytest

from crossover.config import site
from crossover.errors import CrossoverError

KEYS = site.FACTS


@pytest.fixture
def site_file(tmp_path):
    def write(text):
        (tmp_path / "site.yaml").write_text(text)
        return tmp_path / "site.yaml"

    return write


def test_a_site_without_a_file_says_nothing(tmp_path):
    assert site.read(tmp_path / "site.yaml", *KEYS) == {}


@pytest.mark.parametrize("text", ["", "# partition: compute\n", "partition:\n"])
def test_an_empty_file_or_key_says_nothing(site_file, text):
    assert site.read(site_file(text), *KEYS) == {}


def test_facts_are_read(site_file):
    assert site.read(site_file("partition: compute\nnodes: 4\nexclusive: false\n"), *KEYS) == {
        "partition": "compute",
        "nodes": 4,
        "exclusive": False,
    }


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("partitoin: compute", "partitoin: unknown key"),
        ("nodes: many", "nodes: Input should be a valid integer"),
        ("nodes: 0", "nodes: Input should be greater than or equal to 1"),
        ("nodes: true", "nodes: "),
        ("account: 1234", "account: "),
        ("node_list: [n1]", "node_list: "),
        ("node_list: [n1, n1]", "node_list: "),
        ("node_list: [n1, 'n[2-3]']", "node_list.1: "),
        ("exclusive: perhaps", "exclusive: "),
        ("sbatch_options: [--gres]", "sbatch_options: "),
        ("sbatch_options: --comment='a", "sbatch_options: Value error, No closing quotation"),
        (
            "sbatch_options: --reservation=a --partition=b",
            "sbatch_options: Value error, --partition sets the partition, which each launch sets itself; use",
        ),
        ("partition: ''", "partition: "),
        ("- partition", "the file: Input should be an object"),
        ("partition: {", "cannot be read as YAML: "),
        ("partition: a\npartition: b", "cannot be read as YAML: has partition twice"),
        ("[" * 3000, "cannot be read as YAML: "),
    ],
)
def test_a_fault_is_named_with_its_file(site_file, text, fault):
    file = site_file(text)
    with pytest.raises(CrossoverError, match=re.escape(f"{file}: {fault}")):
        site.read(file, *KEYS)


def test_every_fault_is_named_at_once(site_file):
    with pytest.raises(CrossoverError) as found:
        site.read(site_file("partitoin: compute\nnodes: many\n"), *KEYS)
    assert len(str(found.value).splitlines()) == 1 + 2


def test_a_profile_takes_only_the_keys_that_it_uses(site_file):
    file = site_file("qos: short\n")
    with pytest.raises(CrossoverError, match="qos: unknown key"):
        site.read(file, "partition", "nodes")


def test_a_profile_with_a_fault_ends_with_only_the_message(site_file):
    with pytest.raises(SystemExit) as ended:
        site.facts(site_file("nodes: many"), *KEYS)
    assert str(ended.value.code).startswith("config error\n  ")
