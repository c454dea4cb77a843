"""Is the cluster read from Slurm's answers, and left out without one?"""

import doctest
import sys

import pytest

from crossover.errors import CrossoverError
from crossover.slurm import cluster, jobs, submission

ANSWER = "Welcome to the cluster | enjoy\nmain*|up|3|infinite|64\nsingle|up|1|30:00|64\n"


@pytest.fixture
def slurm(monkeypatch):
    monkeypatch.setattr(cluster, "listed", lambda: ANSWER)


@pytest.mark.parametrize("module", [cluster, jobs, submission])
def test_the_examples_in_the_docstrings_hold(module):
    tried = doctest.testmod(module)
    assert tried.attempted and not tried.failed


@pytest.mark.parametrize(("named", "nodes"), [(None, 3), ("single", 1), ("main,single", 4)])
def test_the_named_partitions_or_the_default_one_are_counted(slurm, named, nodes):
    assert cluster.most_nodes(named, sys.maxsize) == nodes


def test_the_key_nodes_is_a_bound_too(slurm):
    assert cluster.most_nodes(None, 2) == 2


def test_without_an_answer_only_the_key_is_a_bound(monkeypatch):
    monkeypatch.setattr(cluster, "listed", lambda: "")
    assert cluster.most_nodes(None, sys.maxsize) is None
    assert cluster.most_nodes(None, 2) == 2


def test_without_slurm_the_defaults_apply_at_once(stand_in, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cluster.partition(None) == cluster.Partition()


def test_on_a_machine_that_belongs_to_no_cluster_too(stand_in):
    stand_in("sinfo", "echo 'sinfo: fatal: Could not establish a configuration source' >&2; exit 1")
    assert cluster.partition(None) == cluster.Partition()


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ("exec sleep 0.4", "waiting for Slurm (sinfo) ...\n"),
        ("exec sleep 60", "waiting for Slurm (sinfo) ...\n"),
        ("echo 'Unable to contact slurm controller' >&2; exit 1", ""),
        ("exit 1", ""),
    ],
)
def test_an_answer_that_is_late_or_fails_once_is_waited_for(stand_in, tmp_path, capsys, first, told):
    first = first.replace("exec sleep 0.4", "sleep 0.4")
    stand_in("sinfo", f"[ -e {tmp_path}/asked ] || {{ touch {tmp_path}/asked; {first}; }}\necho 'main*|up|3|30:00|64'")
    assert cluster.partition(None).processors == 64
    assert capsys.readouterr().err == told


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exec sleep 60", "no answer within 2 s"),
        ("echo 'sinfo: error: Unable to contact slurm controller' >&2; exit 1", "Unable to contact slurm controller"),
        ("exit 3", "ended with code 3"),
    ],
)
def test_without_any_answer_the_run_ends_and_says_so(stand_in, script, words):
    stand_in("sinfo", script)
    end = f"^Slurm does not answer: sinfo: {words}; repeat the command when it does$"
    with pytest.raises(CrossoverError, match=end):
        cluster.partition(None)
