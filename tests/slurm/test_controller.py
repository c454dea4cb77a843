"""Is the configuration of Slurm's controller read correctly?"""

import doctest

from crossover.slurm import controller


def test_the_examples_in_the_docstrings_hold():
    tried = doctest.testmod(controller)
    assert tried.attempted and not tried.failed


def test_a_slurm_that_does_not_answer_says_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert controller.configuration() == ""
    assert controller.remembers_seconds("") is None
    assert controller.keeps_accounts("") is False
