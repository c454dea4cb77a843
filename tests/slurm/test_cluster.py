"""Is the cluster read from Slurm's answers, and left out without one?"""

import doctest
import sys
import time

import pytest

from crossover.slurm import cluster

ANSWER = "Welcome to the cluster | enjoy\nmain*|up|3|infinite|64\nsingle|up|1|30:00|64\n"


@pytest.fixture
def slurm(monkeypatch):
    monkeypatch.setattr(cluster, "said", lambda *_: ANSWER)


def test_the_examples_in_the_docstrings_hold():
    tried = doctest.testmod(cluster)
    assert tried.attempted and not tried.failed


@pytest.mark.parametrize(("named", "nodes"), [(None, 3), ("single", 1), ("main,single", 4)])
def test_the_named_partitions_or_the_default_one_are_counted(slurm, named, nodes):
    assert cluster.most_nodes(named, sys.maxsize, 100) == nodes


def test_the_key_nodes_and_the_number_of_jobs_are_bounds_too(slurm, monkeypatch):
    assert cluster.most_nodes(None, 2, 100) == 2
    monkeypatch.setattr(cluster, "said", lambda *_: ANSWER.replace("|3|", "|5000|"))
    assert cluster.most_nodes(None, sys.maxsize, 100) == 100


def test_without_an_answer_only_the_key_is_a_bound(monkeypatch):
    monkeypatch.setattr(cluster, "said", lambda *_: "")
    assert cluster.most_nodes(None, sys.maxsize, 100) is None
    assert cluster.most_nodes(None, 2, 100) == 2


def test_a_silent_slurm_and_an_absent_one_are_no_answer(stand_in, monkeypatch, tmp_path):
    with monkeypatch.context() as absent:
        absent.setenv("PATH", str(tmp_path))
        assert cluster.partition(None) == cluster.Partition()
    stand_in("sinfo", "exec sleep 60")
    monkeypatch.setattr(cluster, "SOON_SECONDS", 0.2)
    start = time.monotonic()
    assert cluster.partition(None) == cluster.Partition()
    assert time.monotonic() - start < 30
