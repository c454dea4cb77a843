"""Is Slurm's plugin told what its options cannot tell it?"""

import importlib
import os

import pytest

from crossover.slurm import requests


@pytest.mark.parametrize(("answers", "kept"), [([300, None, None], [300, 300]), ([None, 300, None], [300, None])])
def test_the_controllers_answer_on_ended_jobs_is_remembered(monkeypatch, answers, kept):
    plugin = importlib.import_module("snakemake_executor_plugin_slurm")
    told = iter(answers)
    monkeypatch.setattr(plugin, "get_min_job_age", lambda: next(told))
    requests.outwait_controller()
    assert [plugin.get_min_job_age(), plugin.get_min_job_age()] == kept


def test_the_whole_memory_is_requested_unless_the_user_says_otherwise(monkeypatch):
    monkeypatch.setenv("SBATCH_MEM_PER_NODE", "0")
    monkeypatch.delenv("SBATCH_MEM_PER_NODE")
    requests.request_whole_memory()
    assert os.environ["SBATCH_MEM_PER_NODE"] == "0"
    monkeypatch.setenv("SBATCH_MEM_PER_NODE", "500")
    requests.request_whole_memory()
    assert os.environ["SBATCH_MEM_PER_NODE"] == "500"
