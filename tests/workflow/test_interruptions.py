"""After a kill at any moment, the same command resumes; no finished file is lost, no unfinished one kept."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from copies import Project

TOY_DRIVER = "workflow/crossover/measure/experiments/toy.py"


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not become true"
        time.sleep(0.02)


def command_lines(project: Project) -> list[list[str]]:
    """The command lines of a project's processes that still run."""
    found = []
    for process in workers(project):
        with contextlib.suppress(psutil.Error):
            found.append(process.cmdline())
    return found


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


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_run_resumes(project: Project, how: signal.Signals) -> None:
    slow(project)
    raw, logs = (project.folder / "results" / kind / "quick/toy/node" for kind in ("raw", "logs"))
    run = project.start("snakemake", "--profile", "profiles/local", "toy")
    wait_for(lambda: len(list(raw.glob("launch=*.parquet"))) == 1)
    wait_for(lambda: sum("cell 3 of" in log.read_text() for log in logs.glob("*.log")) == 2)
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


def test_a_kill_during_rendering_leaves_no_broken_page(finished: Project) -> None:
    page = finished.folder / "results/report/index.html"
    page.unlink()
    run = finished.start("snakemake", "--profile", "profiles/local")
    wait_for(lambda: any("--page" in line for line in command_lines(finished)))
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
    assert f"another run (process {first.pid}) works in results" in said
    assert "Traceback" not in said
    first.terminate()
    first.communicate(timeout=60)
    wait_for(lambda: not workers(project))


def test_a_broken_experiment_is_a_hole_with_the_command_that_fills_it(finished: Project) -> None:
    fault = "    raise RuntimeError('the toy broke')\n"
    finished.edit(TOY_DRIVER, "    yield Spinner()", f"{fault}    yield Spinner()")
    # Otherwise the measured launches would be kept.
    shutil.rmtree(finished.folder / "results/raw/quick/toy")
    finished.succeed("snakemake", "--profile", "profiles/local")
    page = text_of_the_page(finished)
    assert "Launches 1 and 2 of <code>toy</code> (placement node), <em>exception</em>" in page
    assert "RuntimeError: the toy broke (measure/experiments/toy.py, line " in page
    [command] = re.findall(r"<code>(snakemake [^<]* -R [^<]*)</code>", page)
    finished.edit(TOY_DRIVER, fault, "")
    finished.succeed(*(word for word in command.split() if word != "\\"))
    finished.succeed("snakemake", "--profile", "profiles/local")
    assert "the toy broke" not in text_of_the_page(finished)


def test_a_hole_of_faulty_code_is_measured_again_once_the_code_is_mended(project: Project) -> None:
    command = ("snakemake", "--profile", "profiles/local", "toy")
    project.edit(TOY_DRIVER, 'settings["weights"]', 'settings["wights"]')
    said = project.succeed(*command)
    assert "not measured: toy, placement node, launch 1, 2 (exception): KeyError: 'wights'" in said
    assert re.search(r"KeyError: 'wights' \(measure/experiments/toy\.py, line \d+\)", said)
    # Unchanged code would fail again.
    assert "launch" not in project.planned("toy")
    project.edit(TOY_DRIVER, 'settings["wights"]', 'settings["weights"]')
    # Snakemake's own records are not needed.
    shutil.rmtree(project.folder / ".snakemake")
    assert "not measured" not in project.succeed(*command)
    assert project.planned("toy") == {}


def text_of_the_page(project: Project) -> str:
    return " ".join((project.folder / "results/report/index.html").read_text().split())
