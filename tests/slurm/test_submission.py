"""Are options of sbatch passed on, and those refused that the plugin would refuse? Is it told the rest?"""

import os
import re
from types import SimpleNamespace

import pytest
from snakemake_executor_plugin_slurm.validation import get_forbidden_slurm_options, validate_slurm_extra
from snakemake_interface_common.exceptions import WorkflowError

from crossover.slurm import submission

FORBIDDEN = (
    *("--job-name=x", "-J x", "-Jx", "--output=x", "-o x", "--error x", "-e x", "--parsable", "--export=ALL"),
    *("--comment=x", "--workdir=/x", "-D /x", "--account=x", "-A x", "--partition x", "-p x", "--mem=1G"),
    *("--mem-per-cpu=1G", "--ntasks=2", "-n 2", "--ntasks-per-gpu=1", "--cpus-per-task=2", "-c 2", "--cpus-per-gpu=2"),
    *("--time=1", "-t 1", "--constraint=x", "-C x", "--qos=x", "--nodes=2", "-N 2", "--clusters=x", "--gres=x"),
    *("--gpus=1", "--gpus 1"),
)
GRANTED = (
    "--gpus-per-node=1",
    "--reservation=tests",
    "--prefer='a&b'",
    "-x node7",
    "--switches=1@60",
    "--hint=compute",
)


@pytest.mark.parametrize("option", FORBIDDEN)
def test_what_the_plugin_refuses_is_refused_with_a_next_step(option):
    text = f"--reservation=tests {option}"
    with pytest.raises(WorkflowError):
        validate_slurm_extra(SimpleNamespace(resources=SimpleNamespace(slurm_extra=text)))
    name = option[:2] if option[1] != "-" else re.match("[a-z-]+", option)[0]
    with pytest.raises(ValueError, match=f"^{name}.* use one of the keys"):
        submission.check_options(text)


def test_every_option_of_the_plugin_is_tried():
    tried = "\n".join(f" {option} " for option in FORBIDDEN)
    assert [pattern for pattern in get_forbidden_slurm_options() if not re.search(pattern, tried)] == []


@pytest.mark.parametrize("option", GRANTED)
def test_other_options_reach_the_job(option):
    assert submission.check_options(option) == option
    extra = submission.extra_options({"sbatch_options": option})
    validate_slurm_extra(SimpleNamespace(resources=SimpleNamespace(slurm_extra=extra)))
    assert extra.startswith("--exclusive --overcommit ")


@pytest.mark.parametrize("option", ["--array=1-3", "-a 1-3", "--wait", "-W", "--test-only", "--wrap=true"])
def test_options_with_which_no_launch_would_run_are_refused(option):
    with pytest.raises(ValueError, match=re.split("[ =]", option)[0]):
        submission.check_options(f"--hint=compute {option}")


def test_the_whole_memory_is_requested_unless_the_user_says_otherwise(monkeypatch):
    monkeypatch.setenv("SBATCH_MEM_PER_NODE", "0")
    monkeypatch.delenv("SBATCH_MEM_PER_NODE")
    submission.request_whole_memory()
    assert os.environ["SBATCH_MEM_PER_NODE"] == "0"
    monkeypatch.setenv("SBATCH_MEM_PER_NODE", "500")
    submission.request_whole_memory()
    assert os.environ["SBATCH_MEM_PER_NODE"] == "500"


def test_an_empty_variable_requests_no_memory_and_one_by_processor_is_passed_on(monkeypatch):
    monkeypatch.setenv("SBATCH_MEM_PER_NODE", "")
    submission.request_whole_memory()
    assert "SBATCH_MEM_PER_NODE" not in os.environ
    monkeypatch.setenv("SBATCH_MEM_PER_CPU", "2G")
    submission.request_whole_memory()
    submission.settle_environment()
    assert "SBATCH_MEM_PER_NODE" not in os.environ and os.environ["SBATCH_MEM_PER_CPU"] == "2G"


def test_variables_for_which_a_site_has_a_key_are_keys(monkeypatch):
    monkeypatch.setenv("SBATCH_PARTITION", "short")
    monkeypatch.setenv("SBATCH_QOS", "")
    assert submission.facts_of_variables() == {"partition": "short"}


def test_variables_that_narrow_what_is_cancelled_are_forgotten(monkeypatch):
    monkeypatch.setenv("SCANCEL_STATE", "PENDING")
    submission.settle_environment()
    assert "SCANCEL_STATE" not in os.environ


def test_the_path_of_slurms_configuration_survives_the_plugin(monkeypatch):
    monkeypatch.setenv("SLURM_CONF", "/site/slurm.conf")
    monkeypatch.setenv("CROSSOVER_SLURM_CONF", "")
    submission.settle_environment()
    monkeypatch.delenv("SLURM_CONF")
    submission.restore_configuration()
    assert os.environ["SLURM_CONF"] == "/site/slurm.conf"
