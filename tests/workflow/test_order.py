"""All commands of the documents in random order, some of them killed: no measured launch is lost."""

import os
import random
import re
import shlex
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from copies import ROOT, Project, copy_of_the_project
from test_interruptions import kill, wait_for, workers
from test_main_job import _commands

ORDERS = int(os.environ.get("CROSSOVER_ORDERS", "1"))
"""The number of orders; each takes minutes. Before a release: CROSSOVER_ORDERS=20."""

LENGTH = int(os.environ.get("CROSSOVER_COMMANDS", "8"))
"""The most commands of an order."""

TIERS = ("smoke", "quick", "standard")
MAKE = "make -o .venv/run "
"""make with the existing set-up, whatever its age."""

KILLED = 0.3
"""The share of commands that are killed at a random moment."""


MADE = re.compile(r"^ {4}(make (?:report|bundle|publish TO=)[^\n#]*?)(?: {2,}.*)?$", re.MULTILINE)
"""The make commands that write results, or files from results, on this machine."""


def with_make(project: Project) -> None:
    """Let the copy run make's commands in the set-up of these tests."""
    shutil.copy(ROOT / "Makefile", project.folder)
    (project.folder / ".venv").symlink_to(sys.prefix)


def commands() -> list[str]:
    """Every command of README and docs that runs on one machine, and a run of each of three tiers."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    made = sorted({line.strip() for page in pages for line in MADE.findall(page.read_text())})
    made = [line.replace("make ", MAKE).replace("FROM=bundle/", "FROM=") for line in made]
    found = sorted({line for page in pages for line in _commands(page) if "slurm" not in line})
    own = [re.sub(r"zmq_throughput|mpi_pingpong", "toy", line) for line in found if "doctor" not in line]
    settings = ["snakemake --profile profiles/local --config remeasure=true", "snakemake --profile profiles/local -n"]
    tiers = [f"{MAKE}report TIER={tier}" for tier in TIERS]
    return [*own, *made, *tiers, *settings, "edit the driver", "change a setting"]


def measured(project: Project) -> dict[str, bytes]:
    """The content of every raw file of every tier."""
    files = (project.folder / "results/raw").rglob("launch=*.parquet")
    return {str(path): path.read_bytes() for path in files}


def do(project: Project, command: str, chance: random.Random) -> str:
    """Run a command, or kill it at a random moment; returns a description."""
    if command == "edit the driver":
        with (project.folder / "workflow/crossover/experiments/toy/driver.py").open("a") as driver:
            driver.write(f"\nEDIT = {chance.random()}\n")
        return command
    if command == "change a setting":
        project.configure(toy={"launches": 2, "target_width": chance.choice([0.01, 0.02, 0.03])})
        return command
    if chance.random() >= KILLED:
        code, said = project.run(*shlex.split(command))
        assert code in (0, 1, 2) and "Traceback" not in said, said
        return f"{command}: {code}"
    how = chance.choice([signal.SIGINT, signal.SIGKILL])
    run = project.start(*shlex.split(command))
    time.sleep(chance.uniform(3, 10))
    if run.poll() is None:
        kill(run, how)
    else:
        run.communicate()
    wait_for(lambda: not workers(project))
    return f"{command}: {how.name}"


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("order", range(ORDERS))
def test_no_order_of_commands_loses_a_measured_launch(tmp_path: Path, order: int) -> None:
    chance = random.Random(order)
    project = copy_of_the_project(tmp_path / "project")
    with_make(project)
    project.configure(toy={"launches": 2})
    chosen = commands()
    assert len(chosen) > 8
    chance.shuffle(chosen)
    history: list[str] = []
    before = measured(project)
    for command in chosen[:LENGTH]:
        history.append(do(project, command, chance))
        after = measured(project)
        assert {path: after.get(path) for path in before} == before, history
        before = after
    assert before or len(chosen) > LENGTH, history
