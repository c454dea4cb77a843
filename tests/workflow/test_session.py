"""Do the commands of a run find this package, and are its errors plain?"""

import importlib
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from crossover.config import schema
from crossover.errors import CrossoverError, plain
from crossover.measure.ranks import variables
from crossover.paths import PACKAGE, WORKFLOW
from crossover.workflow import session


def test_earlier_entries_of_the_path_follow_ours_and_foreign_packages_are_ignored_with_one_line(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("PYTHONPATH", "/somewhere/else")
    monkeypatch.setenv("BASH_ENV", "/somewhere/else")
    session.expose()
    assert os.environ["PATH"].split(":") == [str(Path(sys.executable).parent), "/usr/bin", "/bin"]
    assert os.environ["PYTHONPATH"] == str(WORKFLOW)
    once = dict(os.environ)
    session.expose()
    assert dict(os.environ) == once
    assert capsys.readouterr().err == "ignored: PYTHONPATH BASH_ENV; crossover uses the packages in .venv alone\n"


def test_a_script_in_the_working_folder_and_bash_replace_nothing(monkeypatch, tmp_path):
    (tmp_path / "random.py").write_text("1 / 0")
    (tmp_path / "own.sh").write_text("PATH=/nowhere")
    monkeypatch.setenv("BASH_ENV", str(tmp_path / "own.sh"))
    session.expose()
    command = ["bash", "-c", "python -m crossover --help"]
    assert subprocess.run(command, capture_output=True, cwd=tmp_path).returncode == 0


def test_launches_keep_the_job_and_not_what_its_step_was_granted(monkeypatch):
    kept = {"SLURM_JOB_ID": "7", "SLURM_CONF": "/site/slurm.conf", "HOME": "/home/me"}
    step = {"SLURM_NTASKS": "1", "SLURM_CPUS_PER_TASK": "1", "SRUN_CPUS_PER_TASK": "1", "SBATCH_PARTITION": "short"}
    monkeypatch.setattr(os, "environ", kept | step)
    session.leave_step()
    assert os.environ == kept


def test_a_run_records_the_variables_of_its_user_and_its_jobs_add_none(monkeypatch):
    for name in filter(lambda name: name.startswith(variables.FAMILIES), list(os.environ)):
        monkeypatch.delenv(name)
    for name in ("CROSSOVER_BEGAN", variables.RECORDED):
        monkeypatch.setenv(name, "of an earlier run")
    home = Path.home()
    for name, value in {"PYTHONASYNCIODEBUG": "1", "LD_PRELOAD": f"{home}/own.so", "OMPI_PASSWORD": "s3cret"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    session.begin()
    monkeypatch.setenv("MALLOC_TOP_PAD_", "1")
    assert json.loads(variables.recorded()) == {"PYTHONASYNCIODEBUG": "1", "LD_PRELOAD": "set"}


def test_an_expected_error_ends_the_run_with_only_its_message_and_a_bug_keeps_its_traceback():
    with pytest.raises(SystemExit) as ended, plain():
        raise CrossoverError("what is wrong and what to do")
    assert ended.value.code == "what is wrong and what to do"
    with pytest.raises(ZeroDivisionError), plain():
        raise ZeroDivisionError


def test_there_is_one_host_on_one_machine_and_on_a_cluster_as_many_as_the_site_allows():
    run = SimpleNamespace(nodes=None, global_resources={})
    assert session.hosts(run) == 1
    run.nodes = 100
    assert session.hosts(run) > 100
    run.global_resources["nodes"] = SimpleNamespace(value=3)
    assert session.hosts(run) == 3


def test_reasons_that_would_measure_launches_again_are_refused():
    triggers = importlib.import_module("snakemake.settings.enums").RerunTrigger
    session.require_triggers({triggers.MTIME, triggers.PARAMS})
    with pytest.raises(CrossoverError, match=r"with code, input, .*use a profile .*--rerun-triggers mtime params"):
        session.require_triggers(triggers.all())


PRIVATE = re.compile(
    r"workflow\._|_(prepare|build)_dag|FileBackupMixin|group_components|persistence|needrun|forcefiles|\._actions"
    r"|snakemake\.dag|scheduler\.failed"
)


def test_nothing_of_snakemake_that_is_not_public_is_called_or_replaced():
    code = [*PACKAGE.rglob("*.py"), *WORKFLOW.glob("rules/*.smk"), WORKFLOW.parent / "Snakefile"]
    assert {path.name for path in code if PRIVATE.search(path.read_text())} == set()


@pytest.mark.parametrize(("cores", "engines"), [(1, 2), (2, 2), (6, 6), (64, 8)])
def test_at_quick_farms_have_as_many_engines_as_cores(monkeypatch, cores, engines):
    monkeypatch.setattr(session.os, "sched_getaffinity", lambda _: set(range(cores)))
    stated = {"experiments": {"task_map": {}, "task_latency": {"engines": 3}, "mpi_pingpong": {}}}
    made = session.with_engines(schema.complete(stated), stated, {})
    assert made.experiments["task_map"].engine_counts == (engines,) and made.experiments["task_latency"].engines == 3
    standard = schema.complete(stated | {"tier": "standard"})
    assert session.with_engines(standard, stated, {}) == standard


@pytest.mark.parametrize("option", ["--config", "-C"])
def test_a_target_behind_config_is_refused_with_the_right_command(option):
    with pytest.raises(SystemExit, match="not 'toy'; if that is a target, put -- before it: -- toy"):
        session.require_values([option, "tier=smoke", "toy", "-n"])
    session.require_values(["-F", "toy", option, "tier=smoke", "results=a b", "--", "toy"])


def test_only_what_the_configuration_leaves_open_is_of_the_cluster():
    stated = {"experiments": {"mpi_pairs": {}, "task_map": {}, "task_latency": {"engines": 3}, "zmq_latency": {}}}
    found = session.of_cluster(schema.complete(stated), stated)
    assert found == {"mpi_pairs": ("hosts",), "task_map": ("engine_counts",), "task_latency": (), "zmq_latency": ()}
    five = {"experiments": {"mpi_pairs": {"hosts": 5}}}
    for hosts, keys in ((8, ()), (4, ("hosts",))):
        here = session.plan.fitted(replace(schema.complete(five), hosts=hosts))
        assert session.of_cluster(here, five) == {"mpi_pairs": keys}
