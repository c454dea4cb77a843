"""Do the commands of a run find this package, and are its errors plain?"""

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from crossover.errors import CrossoverError, plain
from crossover.paths import PACKAGE, WORKFLOW
from crossover.workflow import session

FINDING_US = os.environ | {"PYTHONPATH": str(WORKFLOW)}


def test_a_shell_command_finds_this_interpreter_and_this_package(monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("PYTHONPATH", "/somewhere/else")
    session.expose()
    told = subprocess.run(
        ["sh", "-c", "python -c 'import sys, crossover; print(sys.executable); print(crossover.__file__)'"],
        capture_output=True,
        text=True,
        cwd="/",
    ).stdout.splitlines()
    assert Path(told[0]).parent == Path(sys.executable).parent
    assert Path(told[1]).parent == PACKAGE


def test_earlier_entries_of_the_paths_follow_ours(monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("PYTHONPATH", "/somewhere/else")
    session.expose()
    assert os.environ["PATH"].split(":")[1:] == ["/usr/bin", "/bin"]
    assert os.environ["PYTHONPATH"].split(":")[1:] == ["/somewhere/else"]


@pytest.mark.parametrize("before", [None, "", "/somewhere/else"])
def test_exposing_twice_changes_nothing(monkeypatch, before):
    monkeypatch.setenv("PATH", "/usr/bin")
    if before is None:
        monkeypatch.delenv("PYTHONPATH", raising=False)
    else:
        monkeypatch.setenv("PYTHONPATH", before)
    session.expose()
    once = dict(os.environ)
    session.expose()
    assert dict(os.environ) == once
    assert "" not in os.environ["PYTHONPATH"].split(":")


def test_an_expected_error_ends_the_run_with_only_its_message():
    with pytest.raises(SystemExit) as ended, plain():
        raise CrossoverError("what is wrong and what to do")
    assert ended.value.code == "what is wrong and what to do"


def test_an_unexpected_error_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError), plain():
        raise ZeroDivisionError


def a_workflow(nodes=None, **bounds):
    return SimpleNamespace(nodes=nodes, global_resources={name: SimpleNamespace(value=n) for name, n in bounds.items()})


def test_on_one_machine_there_is_one_host():
    assert session.hosts(a_workflow()) == 1


def test_on_a_cluster_there_are_as_many_as_the_site_allows():
    assert session.hosts(a_workflow(nodes=100)) > 100
    bounded = a_workflow(nodes=100)
    bounded.global_resources["nodes"] = SimpleNamespace(value=3)
    assert session.hosts(bounded) == 3


def test_a_rules_jobs_are_listed_by_their_wildcards():
    jobs = [
        SimpleNamespace(rule=SimpleNamespace(name=name), wildcards_dict={"launch": launch, "experiment": "toy"})
        for name, launch in (("launch", "2"), ("tables", "3"), ("launch", "10"))
    ]
    dag = SimpleNamespace(needrun_jobs=lambda exclude_finished: () if exclude_finished else jobs)
    assert session.due(SimpleNamespace(dag=dag), "launch") == [
        {"experiment": "toy", "launch": 2},
        {"experiment": "toy", "launch": 10},
    ]


@pytest.mark.parametrize("kind", ["overwrite_resources", "overwrite_threads"])
def test_the_old_name_of_a_rule_in_a_profile_is_refused_with_the_new_one(kind):
    settings = SimpleNamespace(overwrite_resources={}, overwrite_threads={})
    session.require_rule_names(settings)
    setattr(settings, kind, {"launch": 1, "measure": 1})
    with pytest.raises(CrossoverError, match="`measure` is now called `launch`; rename it in your profile"):
        session.require_rule_names(settings)


@pytest.mark.parametrize(("answers", "kept"), [([300, None, None], [300, 300]), ([None, 300, None], [300, None])])
def test_the_controllers_answer_on_ended_jobs_is_remembered(monkeypatch, answers, kept):
    plugin = importlib.import_module("snakemake_executor_plugin_slurm")
    told = iter(answers)
    monkeypatch.setattr(plugin, "get_min_job_age", lambda: next(told))
    session.outwait_controller()
    assert [plugin.get_min_job_age(), plugin.get_min_job_age()] == kept


def test_the_whole_memory_is_requested_unless_the_user_says_otherwise(monkeypatch):
    monkeypatch.setenv("SBATCH_MEM_PER_NODE", "0")
    monkeypatch.delenv("SBATCH_MEM_PER_NODE")
    session.request_whole_memory()
    assert os.environ["SBATCH_MEM_PER_NODE"] == "0"
    monkeypatch.setenv("SBATCH_MEM_PER_NODE", "500")
    session.request_whole_memory()
    assert os.environ["SBATCH_MEM_PER_NODE"] == "500"


def test_jobs_have_names_of_their_folder_beside_the_users_own():
    workflow = SimpleNamespace(executor_settings=SimpleNamespace(jobname_prefix="mine"))
    session.name_jobs(workflow, "crossover-1")
    assert workflow.executor_settings.jobname_prefix == "crossover-1_mine"
    session.name_jobs(SimpleNamespace(executor_settings=None), "crossover-1")


def test_a_job_for_one_batch_knows_no_other(monkeypatch):
    wildcards = SimpleNamespace(experiment="toy", placement="node", launch="2")
    names = {("toy", "node", 2): "s1h1r0b1"}
    for plans, group in ((True, "s1h1r0b1"), (False, session.OF_ONE_JOB)):
        monkeypatch.setattr(session, "decides", lambda _, plans=plans: plans)
        assert session.batch(None, names, wildcards) == group
    monkeypatch.setattr(session, "decides", lambda _: True)
    assert session.batch(None, {}, wildcards) is None


def test_a_group_may_have_any_number_of_launches_and_is_named_on_no_command_line():
    workflow = SimpleNamespace(
        global_resources={},
        group_settings=SimpleNamespace(group_components={"mine": 2}),
        _prepare_dag=lambda: None,
    )
    session.join(workflow)
    workflow._prepare_dag()
    components = workflow.group_settings.group_components
    assert (components.get("mine", 1), components.get("b1", 1) > 10**6) == (2, True)
    assert dict(components.items()) == {"mine": 2}
    assert workflow.global_resources == {"alone": 1}
