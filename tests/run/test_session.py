"""Can only one run work in a folder of results, and do its commands find this package?"""

import importlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from crossover.errors import CrossoverError
from crossover.paths import PACKAGE, WORKFLOW
from crossover.run import session

FINDING_US = os.environ | {"PYTHONPATH": str(WORKFLOW)}
HOLD = """
import os, sys
from crossover.errors import CrossoverError
from crossover.run import session
try:
    session.claim(sys.argv[1])
except CrossoverError as error:
    print("refused", error, flush=True)
    raise SystemExit(1)
print("holding", os.getpid(), flush=True)
input()
"""


class Holder:
    """Another run, which claims `results` and holds it until it ends."""

    def __init__(self, results):
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(results)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=FINDING_US,
        )
        self.said = self.process.stdout.readline().strip()

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.communicate()


@pytest.fixture
def holder(tmp_path):
    started = []

    def start(results=tmp_path / "results"):
        started.append(Holder(results))
        return started[-1]

    yield start
    for one in started:
        one.end(signal.SIGKILL)


def test_a_second_run_in_the_same_results_is_refused_with_the_holder_and_the_next_step(holder, tmp_path):
    first, second = holder(), holder()
    assert first.said == f"holding {first.process.pid}"
    assert re.search(rf"refused another run \(process {first.process.pid}\) works in {tmp_path}", second.said)
    assert "wait for it, end it, or choose another folder with --config results=" in second.said


def test_a_refused_run_leaves_the_claim_with_its_holder(holder):
    first, second, third = holder(), holder(), holder()
    assert f"process {first.process.pid}" in second.said
    assert f"process {first.process.pid}" in third.said


def test_a_run_in_other_results_is_not_refused(holder, tmp_path):
    holder()
    assert holder(tmp_path / "elsewhere").said.startswith("holding")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_the_claim_is_released_however_its_holder_ends(holder, how):
    holder().end(how)
    assert holder().said.startswith("holding")


def test_the_commands_that_a_run_starts_do_not_hold_its_claim(holder, tmp_path):
    lives_on = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(5)'])"
    claiming = f"from crossover.run import session; session.claim({str(tmp_path / 'results')!r}); {lives_on}; print(1)"
    ended = subprocess.run(
        [sys.executable, "-c", claiming + "; import os; os._exit(0)"],
        env=FINDING_US,
        stdout=subprocess.DEVNULL,
    )
    assert ended.returncode == 0
    assert holder().said.startswith("holding")


def test_a_claim_makes_the_folder_of_results(tmp_path):
    session.claim(tmp_path / "new" / "results")
    assert (tmp_path / "new" / "results" / ".claim").read_text() == str(os.getpid())


def test_a_shorter_process_number_overwrites_a_longer_one(tmp_path):
    (tmp_path / ".claim").write_text("123456789012345")
    session.claim(tmp_path)
    assert (tmp_path / ".claim").read_text() == str(os.getpid())


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
    with pytest.raises(SystemExit) as ended, session.plain():
        raise CrossoverError("what is wrong and what to do")
    assert ended.value.code == "what is wrong and what to do"


def test_an_unexpected_error_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError), session.plain():
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
