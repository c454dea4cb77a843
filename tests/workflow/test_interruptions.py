"""After a kill at any moment, the same command resumes; no finished file is lost, no unfinished one kept."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from copies import Project

TOY_DRIVER = "workflow/crossover/experiments/toy/driver.py"
MINE = re.compile(r"crossover launch \S*/toy/\w+/2-\S*\.json ")
"""In the command line of the supervisor of launch 2."""


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not become true"
        time.sleep(0.02)


def workers(project: Project) -> list[psutil.Process]:
    """Every process in the copy."""
    found = []
    # Otherwise psutil confuses a new process with an old one of the same id.
    psutil.process_iter.cache_clear()
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()) == project.folder and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def words(process: psutil.Process) -> list[str]:
    """The command of a process; empty if it has ended meanwhile."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def pauses(process: psutil.Process) -> bool:
    """Whether a process is a rank that got the pause of the toy."""
    try:
        return "mpi4py" in words(process) and "CROSSOVER_TOY_SECONDS" in process.environ()
    except psutil.Error:
        return False


def slow(project: Project) -> None:
    """Make each launch of the toy take some seconds, in many cells."""
    project.configure(
        toy={"weights": list(range(1, 31)), "rounds": {"at_least": 10, "at_most": 200}, "budget_seconds": 4}
    )


def kill(run: subprocess.Popen[str], how: signal.Signals) -> None:
    """End Snakemake. Ctrl-C goes to all its processes at once, as in a terminal."""
    os.killpg(run.pid, how) if how == signal.SIGINT else run.send_signal(how)
    try:
        run.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        # On a busy machine Snakemake may miss the first Ctrl-C while it starts a job.
        os.killpg(run.pid, how)
        run.communicate(timeout=60)


def without_launch_2(project: Project, *command: str) -> str:
    """The output of a run that fails because the supervisor of launch 2 is killed."""
    run = project.start(*command)

    def supervisors() -> list[psutil.Process]:
        return [each for each in workers(project) if MINE.search(" ".join(words(each)))]

    wait_for(lambda: bool(supervisors()))
    supervisors()[-1].kill()
    said, _ = run.communicate(timeout=project.limit_seconds)
    assert run.returncode == 1, said
    return said


LONG = pytest.mark.long


@pytest.mark.parametrize(
    "how", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=LONG), pytest.param(signal.SIGINT, marks=LONG)]
)
def test_a_killed_run_resumes(project: Project, how: signal.Signals) -> None:
    slow(project)
    raw, logs = (project.folder / "results" / kind / "quick/toy/node" for kind in ("raw", "logs"))
    run = project.start("snakemake", "--profile", "profiles/local", "toy")
    wait_for(lambda: len(list(raw.glob("launch=*.parquet"))) == 1)
    wait_for(lambda: sum(log.read_text().count(": visit ") >= 3 for log in logs.glob("*.log")) == 2)
    [kept] = raw.glob("launch=*.parquet")
    before = kept.stat().st_mtime_ns
    kill(run, how)
    wait_for(lambda: not workers(project))
    # After SIGTERM, Snakemake waits for the current launch.
    assert len(list(raw.glob("launch=*.parquet"))) == (2 if how == signal.SIGTERM else 1)
    assert project.leftovers() == []
    project.succeed("snakemake", "--profile", "profiles/local", "toy")
    assert kept.stat().st_mtime_ns == before
    assert len(list(raw.glob("launch=*.parquet"))) == 2


@pytest.mark.long
def test_a_kill_during_rendering_leaves_no_broken_page(finished: Project) -> None:
    page = finished.folder / "results/report/index.html"
    page.unlink()
    run = finished.start("snakemake", "--profile", "profiles/local")
    wait_for(lambda: any("--page" in words(each) for each in workers(finished)))
    kill(run, signal.SIGKILL)
    wait_for(lambda: not workers(finished))
    finished.succeed("snakemake", "--profile", "profiles/local")
    assert page.read_text().rstrip().endswith("</html>")
    assert {path.name for path in page.parent.iterdir()} == {"index.html"}


def test_a_second_run_beside_the_first_is_refused(project: Project) -> None:
    slow(project)
    first = project.start("snakemake", "--profile", "profiles/local", "toy")
    wait_for(lambda: (project.folder / "results/.claim").exists())
    code, said = project.run("snakemake", "--profile", "profiles/local", "toy")
    assert code == 1
    assert f"another run (process {first.pid} on " in said
    assert "Traceback" not in said
    first.terminate()
    first.communicate(timeout=60)
    wait_for(lambda: not workers(project))


@pytest.mark.long
def test_a_broken_experiment_is_a_hole_with_the_command_that_fills_it(project: Project) -> None:
    fault = "    raise RuntimeError('the toy broke')\n"
    project.edit(TOY_DRIVER, "    yield Spinner()", f"{fault}    yield Spinner()")
    # Without --config, no rule makes the files of this run.
    command = ("snakemake", "--profile", "profiles/local", "--retries", "0", "--config", "results=mine")
    code, said = project.run(*command)
    assert code == 1, said
    held = project.receipts(results="mine")
    files = [str(held[f"toy/node/{number}"].relative_to(project.folder)) for number in (1, 2)]
    again = f"snakemake --profile profiles/local -R {' '.join(files)} --config results=mine tier=quick"
    assert (
        "2 launches of this run were not measured\nnot measured: toy, placement node, launch 1, 2 (exception): " in said
    )
    assert f"; to retry, repeat the command with: -R {' '.join(files)}\n" in said
    # The answer, and its repetition by hand.
    assert f"To retry: {again}\n" in said
    shown = ("python", "-m", "crossover", "show", "mine")
    assert f"{again}\n" in project.succeed("env", "PYTHONPATH=workflow", *shown)
    # The next run has nothing to do, but the launches are still missing.
    code, said = project.run(*command)
    assert code == 1 and "nothing is left to measure" in said and f"-R {' '.join(files)}\n" in said
    page = text_of_the_page(project, "mine")
    assert "Launches 1 and 2 of <code>toy</code> (placement node), <em>exception</em>" in page
    assert "RuntimeError: the toy broke (experiments/toy/driver.py, line " in page
    [pasted] = re.findall(r"<code>(snakemake [^<]* -R [^<]*)</code>", page)
    assert pasted.replace("\\ ", "") == again
    project.edit(TOY_DRIVER, fault, "")
    project.succeed(*again.split())
    # Another command line renders no page again.
    assert project.planned("--config", "results=mine") == {}
    assert "the toy broke" not in text_of_the_page(project, "mine")


@pytest.mark.long
def test_launches_whose_jobs_fail_are_named_with_the_commands_for_them_and_for_the_page(project: Project) -> None:
    slow(project)
    missing = project.due()[1]
    said = without_launch_2(project, "snakemake", "--profile", "profiles/local")
    again = f"snakemake --profile profiles/local -R {missing}"
    partial = "snakemake --profile profiles/local --config partial=true"
    assert "1 launch of this run was not measured\nnot measured: toy, placement node, launch 2 (no raw file): " in said
    assert f"; to retry, repeat the command with: -R {missing}\nto report on the existing launches now, repeat" in said
    assert not (project.folder / "results/report/index.html").exists()
    project.succeed(*partial.split())
    assert "partial: 1 measured launches and 0 holes" in text_of_the_page(project)
    project.succeed(*again.split())
    assert (project.folder / missing).exists()
    assert project.planned() == {}


def text_of_the_page(project: Project, results: str = "results") -> str:
    return " ".join((project.folder / results / "report/index.html").read_text().split())
