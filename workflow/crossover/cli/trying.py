"""The command that measures a user's own function."""

import json
import os
import shlex
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from crossover.cli.command import PAGES, command, path, step, value
from crossover.errors import CrossoverError

if TYPE_CHECKING:
    from crossover.design.farming import Look
    from crossover.planning.trial import Trial

PILOT_SECONDS = 120

MOST_MINUTES = 10_000

SEVERAL_CORES = 1.3
"""A function that uses more has threads inside libraries, which compete with the workers for cores."""


@command(
    "my_work.py",
    path("file", "Python file with items(count) and task(item)"),
    value("--counts", "numbers of items, such as 1,16,256 (default: as many as fit)", default=""),
    value(
        "--workers", "threads or processes of each pool (default: as many as cores, from 2 to 8)", type=int, default=0
    ),
    value("--arms", "what to compare with the loop, such as joblib,threads", default=""),
    value(
        "--notebook",
        "compare also as if the function were in a notebook, where no worker can import it",
        action="store_true",
    ),
    value("--minutes", "the time that it may take (default: %(default)s)", type=float, default=1.0),
    path("--results", "folder of results (default: results- and the file's name)", default=None, metavar="FOLDER"),
    group=PAGES,
)
def try_(chosen: Namespace) -> int:
    """Measure a function of your own: in a loop, with threads, and on pools.

    The file has plain functions: items(count) returns a list of arguments, task(item) runs on each. It may have two
    more: same(got, expected) tells whether a result is right, and shared() returns what every task gets as a second
    argument. Prints the choice for each number of items,
    the most that it can cost, and lines to paste. It is an ordinary run of an experiment on the file: ask, show and
    compare read its folder, and the last line makes its page.
    """
    from crossover import farms
    from crossover.config import user_file
    from crossover.config.yaml_file import refuse
    from crossover.experiments import declared
    from crossover.planning.trial import FEWEST_ROUNDS, Extent, trial
    from crossover.workflow.session import engines_here

    file = chosen.file
    if not Path("Snakefile").exists():
        raise CrossoverError("this folder has no Snakefile; change to the folder of crossover, and name the file there")
    refuse(user_file.faults(str(file)))
    if chosen.workers < 0 or not 0 < chosen.minutes < MOST_MINUTES:
        raise CrossoverError(f"--workers and --minutes are numbers above 0, and --minutes below {MOST_MINUTES:,}")
    name = next(each for each in user_file.experiments() if declared()[each].farming)
    usual = declared()[name].tiers.quick
    named = _known([arm.strip() for arm in chosen.arms.split(",") if arm.strip()])
    arms = list(dict.fromkeys([usual.reference, *(named or usual.arms)]))
    workers = chosen.workers or engines_here()
    counts, found = _counts(chosen.counts), _looked(file)
    libraries = ["as set", "1"] if found.cores > SEVERAL_CORES else ["as set"]
    places = ["module", "notebook"] if chosen.notebook and not found.shares else ["module"]
    runnable = 0 if found.shares else len(farms.programs(arms))
    extent = Extent(len(arms), runnable, workers, len(places) + found.shares, len(libraries))
    plan = trial(found, extent, chosen.minutes, counts)
    results = chosen.results or Path(f"results-{file.stem}")
    results.mkdir(parents=True, exist_ok=True)
    settings = {
        "item_counts": list(plan.counts),
        "arms": arms,
        "engines": workers,
        "launches": plan.launches,
        "fewest_rounds": FEWEST_ROUNDS,
        "pools": ["running", "program"] if plan.has_programs else ["running"],
        "library_threads": libraries,
        "functions": places,
        "budget_seconds": plan.budget_seconds,
    }
    # JSON is YAML.
    (results / "try.yaml").write_text(json.dumps({"experiments": {name: settings}}), encoding="utf-8")
    print("\n".join(_announced(file.name, found, plan, arms, workers)), flush=True)
    words = ["snakemake", "--profile", "profiles/local", "--configfile", str(results / "try.yaml")]
    words += ["--config", f"own={file}", f"results={results}", "remeasure=true", "--", name]
    code = _measured(words)
    if not code:
        page = " ".join(shlex.quote(word) for word in [*words[:-3], "partial=true"])
        print("\n".join([*_answer(results, name), "", f"Its page: {page}"]))
    return code


def _measured(words: list[str]) -> int:
    """Run Snakemake, and print a line for each launch; all of its lines if it fails."""
    command = [sys.executable, "-m", *words]
    every = []
    with subprocess.Popen(
        command, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    ) as process:
        assert process.stdout
        for line in process.stdout:
            every.append(line)
            if line.startswith("[") and "measured" in line:
                print(line, end="", flush=True)
    if process.returncode:
        print("".join(every), end="", file=sys.stderr)
    return process.returncode


def _known(arms: list[str]) -> list[str]:
    from difflib import get_close_matches

    from crossover import farms

    every = [name for name in farms.arms() if farms.snippet(name)]
    for arm in arms:
        if arm not in farms.arms():
            near = get_close_matches(arm, farms.arms(), 1)
            meant = f"did you mean {near[0]}? " if near else ""
            raise CrossoverError(f"--arms: there is no {arm!r}; {meant}such as: {', '.join(every)}")
    return arms


def _counts(text: str) -> list[int]:
    try:
        counts = [int(word) for word in text.split(",") if word.strip()]
    except ValueError:
        counts = [0]
    if any(count < 1 for count in counts):
        raise CrossoverError(f"--counts: {text!r} is no list of numbers of items; write for example 1,16,256")
    return counts


def _looked(file: Path) -> "Look":
    """A first look at the function, in a process that it may end."""
    from tempfile import TemporaryDirectory

    from crossover.design.farming import Look

    with TemporaryDirectory(prefix="crossover-pilot-") as folder:
        output = Path(folder, "pilot.json")
        words = [sys.executable, "-P", "-m", "crossover", "pilot", str(file), "--output", str(output)]
        try:
            done = subprocess.run(
                words,
                env=_environment(),
                capture_output=True,
                timeout=PILOT_SECONDS,
                encoding="utf-8",
                errors="replace",
            )
        except subprocess.TimeoutExpired:
            raise CrossoverError(
                f"{file.name}: three calls of task take more than {PILOT_SECONDS} s; such a task is worth a process of "
                "its own, with any pool"
            ) from None
        if not output.is_file():
            said = (done.stderr.strip().splitlines() or [f"it ended with code {done.returncode}"])[-1]
            raise CrossoverError(said.removeprefix("crossover pilot: "))
        return Look(**json.loads(output.read_text(encoding="utf-8")))


def _environment() -> dict[str, str]:
    from crossover.paths import WORKFLOW

    return os.environ | {"PYTHONPATH": str(WORKFLOW), "PYTHONSAFEPATH": "1"}


def _announced(name: str, found: "Look", plan: "Trial", arms: list[str], workers: int) -> list[str]:
    """What will be measured, and what not."""
    from crossover.report.text import numbers

    def size(count: int | None) -> str:
        return "cannot be pickled" if count is None else f"{numbers.quantity(count, 'bytes')} when pickled"

    duration = numbers.quantity(found.task_seconds, "s")
    lines = [
        f"{name}: task takes {duration} for an item; item: {size(found.item_bytes)}; result: {size(found.result_bytes)}"
    ]
    if found.cores > SEVERAL_CORES:
        lines.append(
            f"It uses {numbers.significant(found.cores)} cores, by threads inside libraries; measured so, and with one"
        )
    counts = numbers.listed([f"{count:,}" for count in plan.counts], "and")
    lines.append(f"Calls with {counts} items on {workers} workers: {numbers.listed(arms, 'and')}")
    if not plan.has_programs:
        lines.append(
            "Not as a whole program: not with a shared argument"
            if found.shares
            else "Not as a whole program, which takes longer: --minutes"
        )
    if plan.too_long:
        lines.append(f"More items take longer: --counts {plan.too_long[0]}, or --minutes")
    lines.append(f"This takes about {numbers.duration(plan.seconds)}.")
    return lines


def _answer(results: Path, name: str) -> list[str]:
    """The choices along the axis, where they are open, what a loop costs, and the lines to paste."""
    from crossover import farms
    from crossover.experiments import declared
    from crossover.query.run import Run
    from crossover.records.outcome import OPEN
    from crossover.report.text import numbers
    from crossover.report.text.choices import plain

    run = Run(results)
    loop = declared()[name].tiers.quick.reference
    lines, pasted = [], dict[str, None]()
    for question in run.along(run.find(name)):
        lines.append(plain(f"{question.name}: {question.words}, {question.most}"))
        pasted |= dict.fromkeys(row.choice for row in question.rows)
        if unsettled := [numbers.quantity(row.x, row.axis_unit) for row in question.rows if row.verdict == OPEN]:
            lines.append(f"Open at {numbers.listed(unsettled)}: a larger --minutes may decide")
        costs = [(row.candidates[loop], row.x, row.axis_unit) for row in question.rows if loop in row.candidates]
        if loop not in pasted and costs:
            cost, x, unit = max(costs)
            lines.append(
                f"A plain loop is at most {numbers.significant(cost)} times worse, at {numbers.quantity(x, unit)}"
            )
    for arm in pasted:
        if text := farms.snippet(arm):
            lines += ["", f"{arm}, to paste:", *filter(None, text.splitlines())]
    return lines


@step("my_work.py --output pilot.json", path("file", "Python file"), path("--output", "JSON file to write"))
def pilot(chosen: Namespace) -> None:
    """Call a user's functions a few times, and record their duration and size."""
    from dataclasses import asdict

    from crossover.config import user_file
    from crossover.measure.launch import driver

    measured = driver.find_users(user_file.experiments()[0])
    found = measured.look(chosen.file.name, user_file.sources(chosen.file))
    chosen.output.write_text(json.dumps(asdict(found)), encoding="utf-8")
