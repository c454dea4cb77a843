"""Are a site's facts read correctly, and wrong ones refused with the file, the key and the reason?"""

import re

import pytest
import yaml

from crossover.config import site
from crossover.errors import CrossoverError

KEYS = yaml.safe_load(site.SCHEMA.read_text())["properties"]


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
        ("partitoin: compute", "partitoin: unknown key; known here: partition, account, "),
        ("nodes: many", "nodes: 'many' is not of type integer"),
        ("nodes: 0", "nodes: 0 is less than the minimum of 1"),
        ("nodes: true", "nodes: True is not of type integer"),
        ("account: 1234", "account: 1234 is not of type string"),
        ("node_list: [n1]", "node_list: "),
        ("node_list: [n1, n1]", "node_list: "),
        ("node_list: [n1, 'n[2-3]']", "node_list.1: "),
        ("exclusive: perhaps", "exclusive: 'perhaps' is not of type boolean"),
        ("sbatch_options: [--gres]", "sbatch_options: ['--gres'] is not of type string"),
        ("sbatch_options: tests", "sbatch_options: 'tests' is no option of sbatch; write options such as"),
        ("sbatch_options: --comment='a", "sbatch_options: cannot be split into words (No closing quotation)"),
        (
            "sbatch_options: --reservation=a --partition=b",
            "sbatch_options: --partition sets the partition, which each launch sets itself; use one of the keys",
        ),
        ("sbatch_options: -t 20", "sbatch_options: -t sets the runtime/time limit, which each launch sets itself"),
        ("sbatch_options: --gres=gpu:1", "sbatch_options: --gres sets the generic resources (GRES), which each launch"),
        ("sbatch_options: --hint=x --array=1-3", "sbatch_options: with --array=1-3 in a job array every task"),
        ("sbatch_options: --wait", "sbatch_options: with --wait jobs would be submitted one after another; remove it"),
        ("partition: ''", "partition: "),
        ("- partition", "is not a list of keys with values; write lines like `partition: compute`"),
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
    with pytest.raises(CrossoverError, match="qos: unknown key; known here: partition, nodes"):
        site.read(file, "partition", "nodes")


def test_a_required_key_is_missed_even_without_a_file(tmp_path):
    with pytest.raises(CrossoverError, match=r"site.yaml: image: is missing"):
        site.read(tmp_path / "site.yaml", "image", "nodes", needed=["image"])


def test_a_profile_with_a_fault_ends_with_only_the_message(site_file):
    with pytest.raises(SystemExit) as ended:
        site.facts(site_file("nodes: many"), *KEYS)
    assert str(ended.value.code).startswith("config error\n  ")
