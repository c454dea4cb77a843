"""The command that measures a user's own function."""

import json
import os
import shlex
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crossover.cli.command import PAGES, command, path, step, value
from crossover.errors import CrossoverError

if TYPE_CHECKING:
    from crossover.design.config import ObjectLook
    from crossover.design.farming import Look
    from crossover.planning.trial import Trial

GUARD = (sys.executable, "-P", "-m", "crossover.measure.ranks.ending")
"""With it ends all that a command has started."""

PILOT_SECONDS = 120
POLL_SECONDS = 0.05
MOST_OUTPUT_BYTES = 65_536
"""Of a first look at a file."""

MOST_MINUTES = 10_000
MOST_LINES = 25
"""What a terminal shows at once."""

SLOW_IMPORT = 1.0
"""Seconds; a shorter import is not worth a line."""

SEVERAL_CORES = 1.3
"""A function that uses more has threads inside libraries, which compete with the workers for cores."""


@command(
    "my_work.py",
    path("file", "Python file with items(count) and task(item), or message(count)"),
    value("--counts", "numbers of items or counts, such as 1,16,256 (default: as many as fit)", default=""),
    value(
        "--workers", "threads or processes of each pool (default: as many as cores, from 2 to 8)", type=int, default=0
    ),
    value("--arms", "what to compare, such as joblib,threads", default=""),
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
    """Measure a function of your own in a loop and on pools, or an object of your own sent in every way.

    The file has plain functions: items(count) returns a list of arguments, task(item) runs on each; or message(count)
    returns an object to send. It may have two more: same(got, expected) tells whether a result or an object is right,
    and the result of shared() is the second argument of every task. Prints the choice for each number of items, the
    most that it can cost, and lines to paste. It is an ordinary run of an experiment on the file: ask, show and
    compare read its folder, and the last line makes its page.
    """
    from crossover.config import user_file
    from crossover.config.yaml_file import refuse
    from crossover.design.experiments import declared
    from crossover.planning.trial import TRIAL
    from crossover.records import atomic
    from crossover.report.text import numbers

    file, minutes = chosen.file, chosen.minutes
    if not Path("Snakefile").exists():
        raise CrossoverError("this folder has no Snakefile; change to the folder of crossover, and name the file there")
    refuse(user_file.faults(str(file)))
    if chosen.workers < 0 or not 0 < minutes < MOST_MINUTES:
        raise CrossoverError(f"--workers and --minutes are numbers above 0, and --minutes below {MOST_MINUTES:,}")
    names = user_file.of_file(file)
    share = minutes / len(names)
    parts = {
        name: (_tasks if declared()[name].farming else _messages)(name, chosen, arms, share)
        for name, arms in _arms(chosen.arms, names).items()
    }
    results = chosen.results or Path(f"results-{file.stem}")
    settings = {name: part.settings for name, part in parts.items()}
    with atomic.replacing(results / TRIAL) as written:
        # JSON is YAML.
        written.write_text(json.dumps({"experiments": settings}), encoding="utf-8")
    lines = [line for part in parts.values() for line in part.lines]
    lines.append(f"This takes about {numbers.duration(sum(part.seconds for part in parts.values()))}.")
    print("\n".join(lines), flush=True)
    words = ["snakemake", "--profile", "profiles/local", "--configfile", str(results / TRIAL)]
    words += ["--config", f"own={file}", f"results={results}", "remeasure=true", "--", *names]
    code = _measured(words)
    if not code:
        page = " ".join(shlex.quote(word) for word in [*words[: words.index("remeasure=true")], "partial=true"])
        answers = [_answer(results, name, part.counts) for name, part in parts.items()]
        said = [line for found, _ in answers for line in found]
        pasted = [block for _, blocks in answers for block in blocks]
        launches = sum(part.settings["launches"] for part in parts.values())
        room = MOST_LINES - len(lines) - launches - len(said) - 2
        for at, block in enumerate(pasted):
            # One at least.
            if not at or len(block) <= room:
                said += block
                room -= len(block)
        print("\n".join([*said, "", f"Its page: {page}"]))
    return code


@dataclass(frozen=True)
class Part:
    """The trial of one experiment: its points, its settings, what to say before it, and the seconds that it takes."""

    counts: Sequence[int]
    settings: dict[str, Any]
    lines: list[str]
    seconds: float


def _tasks(name: str, chosen: Namespace, arms: list[str], minutes: float) -> Part:
    """The trial of a function."""
    from crossover.design import farms
    from crossover.design.farming import Look
    from crossover.planning.trial import ROUNDS, Extent, trial
    from crossover.workflow.session import engines_here

    workers = chosen.workers or engines_here()
    counts, look = _counts(chosen.counts), Look(**_looked(name, chosen.file))
    if look.first_seconds and look.shares:
        raise CrossoverError(
            f"{chosen.file.name}: task remembers its results, so later calls tell nothing of first ones, and whole "
            "programs, where each call is a first, have no shared(); make in task(item) what tasks share"
        )
    libraries = ["as set", "1"] if look.cores > SEVERAL_CORES else ["as set"]
    places = ["module", "notebook"] if chosen.notebook and not look.shares else ["module"]
    programs = 0 if look.shares else len(farms.programs(arms))
    curves = 0 if look.first_seconds else len(places) + look.shares
    first = replace(look, task_seconds=look.first_seconds or look.task_seconds)
    plan = trial(first, Extent(len(arms), programs, workers, curves, len(libraries)), minutes, counts)
    pools = ["running", "program"] if plan.has_programs else ["running"]
    settings = {
        "item_counts": list(plan.counts),
        "arms": arms,
        "engines": workers,
        "launches": plan.launches,
        "fewest_rounds": ROUNDS,
        # Its workers would remember, too; in a program, each call is an item's first.
        "pools": ["program"] if look.first_seconds else pools,
        "library_threads": libraries,
        "functions": places,
        "budget_seconds": plan.budget_seconds,
        "import_seconds": round(look.import_seconds, 1),
    }
    return Part(plan.counts, settings, _announced(chosen.file.name, look, plan, arms, workers), plan.seconds)


def _messages(name: str, chosen: Namespace, arms: list[str], minutes: float) -> Part:
    """The trial of an object."""
    from crossover.design.config import MORE_IMPORTS, ObjectLook, too_slow
    from crossover.planning.trial import MESSAGE_START_SECONDS, budget_of, launches_in, spread
    from crossover.report.text import numbers

    look = ObjectLook(**_looked(name, chosen.file))
    launches = launches_in(minutes)
    budget = round(budget_of(launches, minutes, MESSAGE_START_SECONDS), 1)
    fitting = [
        count
        for count, seconds in zip(look.counts, look.seconds, strict=True)
        if count == 1 or not too_slow(seconds, len(arms), budget)
    ]
    counts = sorted(_counts(chosen.counts)) or spread(fitting)
    size = numbers.quantity(look.pickled_bytes[-1], "bytes")
    lines = [
        f"{chosen.file.name}: message({look.counts[-1]:,}) is a {look.kind} of {size} when pickled, "
        f"{numbers.percent(look.out_of_band_share)} of it in buffers that go out of band",
        f"Messages with {numbers.listed([f'{count:,}' for count in counts], 'and')}, by {len(arms)} ways",
    ]
    if not chosen.counts and len(fitting) < len(look.counts):
        lines.append(f"More takes longer: --counts {look.counts[len(fitting)]}, or --minutes")
    imports = round(look.import_seconds, 1)
    settings = {
        **{"counts": counts, "arms": arms, "launches": launches},
        **{"budget_seconds": budget, "import_seconds": imports},
    }
    lines += _slow_import(look)
    return Part(counts, settings, lines, 60 * minutes + launches * (len(arms) + MORE_IMPORTS) * imports)


def _measured(words: list[str]) -> int:
    """Run Snakemake, and print a line for each launch; all of its lines if it fails."""
    command = [*GUARD, sys.executable, "-m", *words]
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


def _arms(text: str, experiments: Sequence[str]) -> dict[str, list[str]]:
    """The arms of each experiment: the reference and those named, or the usual ones where none is named."""
    from difflib import get_close_matches

    from crossover.design import farms
    from crossover.design.experiments import declared

    every = {name: declared()[name] for name in experiments}
    known = {
        name: own.names("arms") or [arm for arm in farms.arms() if farms.snippet(arm)] for name, own in every.items()
    }
    allowed = {name: {*known[name], *(farms.arms() if own.farming else ())} for name, own in every.items()}
    wanted = [arm.strip() for arm in text.split(",") if arm.strip()]
    for arm in wanted:
        if not any(arm in names for names in allowed.values()):
            near = get_close_matches(arm, set().union(*allowed.values()), 1)
            meant = f"did you mean {near[0]}? " if near else ""
            listed = ", ".join(dict.fromkeys(arm for names in known.values() for arm in names))
            raise CrossoverError(f"--arms: there is no {arm!r}; {meant}such as: {listed}")
    chosen = {name: [arm for arm in wanted if arm in allowed[name]] for name in experiments}
    return {
        name: list(dict.fromkeys([own.tiers.quick.reference, *(chosen[name] or own.tiers.quick.arms)]))
        for name, own in every.items()
    }


def _counts(text: str) -> list[int]:
    try:
        counts = [int(word) for word in text.split(",") if word.strip()]
    except ValueError:
        counts = [0]
    if any(count < 1 for count in counts):
        raise CrossoverError(f"--counts: {text!r} is no list of numbers of items; write for example 1,16,256")
    return counts


def _looked(experiment: str, file: Path) -> dict[str, Any]:
    """The fields of an experiment's first look at the file, in a process that the file may end."""
    from crossover.records import temporary

    with temporary.folder() as folder:
        output, log = folder / "pilot.json", folder / "log"
        words = [*GUARD, sys.executable, "-P", "-m", "crossover", "pilot", experiment, str(file)]
        with log.open("wb") as lines:
            # With what the file leaves in its temporary folder.
            around = _environment() | {"TMPDIR": str(folder)}
            guard = subprocess.Popen([*words, "--output", str(output)], env=around, stdout=lines, stderr=lines)
        until = time.monotonic() + PILOT_SECONDS
        try:
            while guard.poll() is None:
                if log.stat().st_size > MOST_OUTPUT_BYTES:
                    raise CrossoverError(f"{file.name}: prints without an end; remove that")
                if time.monotonic() > until:
                    raise CrossoverError(
                        f"{file.name}: its import and a few calls take more than {PILOT_SECONDS} s; such a task is "
                        "worth a process of its own, with any pool"
                    )
                time.sleep(POLL_SECONDS)
        finally:
            guard.terminate()
            guard.wait()
        if not output.is_file():
            printed = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            said = (printed or [f"it ended with code {guard.returncode}"])[-1]
            raise CrossoverError(said)
        found: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
        return found


def _environment() -> dict[str, str]:
    from crossover.paths import WORKFLOW

    return os.environ | {"PYTHONPATH": str(WORKFLOW), "PYTHONSAFEPATH": "1"}


def _announced(name: str, found: "Look", plan: "Trial", arms: list[str], workers: int) -> list[str]:
    """What will be measured, and what not."""
    from crossover.report.text import numbers

    def size(count: int | None) -> str:
        return "cannot be pickled" if count is None else f"{numbers.quantity(count, 'bytes')} when pickled"

    duration = numbers.quantity(found.first_seconds or found.task_seconds, "s")
    lines = [
        f"{name}: task takes {duration} for an item; item: {size(found.item_bytes)}; result: {size(found.result_bytes)}"
    ]
    if found.first_seconds:
        later = numbers.quantity(found.task_seconds, "s")
        lines.append(
            f"It remembers its results: {duration} at an item's first call, {later} later; measured are first calls, "
            "in whole programs"
        )
    if found.cores > SEVERAL_CORES:
        lines.append(
            f"It uses {numbers.significant(found.cores)} cores, by threads inside libraries; measured so, and with one"
        )
    lines += _slow_import(found)
    counts = numbers.listed([f"{count:,}" for count in plan.counts], "and")
    lines.append(f"Calls with {counts} items on {workers} workers: {numbers.listed(arms, 'and')}")
    if not plan.has_programs and not found.first_seconds:
        lines.append(
            "No whole programs, because tasks share an argument"
            if found.shares
            else "Whole programs take longer: --minutes"
        )
    if plan.too_long:
        lines.append(f"More items take longer: --counts {plan.too_long[0]}, or --minutes")
    return lines


def _slow_import(look: "Look | ObjectLook") -> list[str]:
    """A line about an import that makes the trial longer; none for others."""
    from crossover.report.text import numbers

    seconds = look.import_seconds
    return [f"Its import takes {numbers.quantity(seconds, 's')}, in each process"] if seconds > SLOW_IMPORT else []


def _answer(results: Path, name: str, counts: Sequence[int]) -> tuple[list[str], list[list[str]]]:
    """The choices along the axis, where they are open, what the reference costs; and the lines to paste, by arm."""
    from crossover.design import farms
    from crossover.design.experiments import declared
    from crossover.query.run import Run
    from crossover.records.outcome import OPEN
    from crossover.report.text import holes, numbers, tables
    from crossover.report.text.choices import plain

    run, experiment = Run(results), declared()[name]
    usual = experiment.tiers.quick.reference
    lines, chosen, measured = [], dict[str, None](), set[float]()
    for question in run.along(run.find(name)):
        last = question.rows[-1]
        reached = f"; {numbers.quantity(last.value, last.unit)} at {numbers.quantity(last.x, last.axis_unit)}"
        lines.append(plain(f"{question.name}: {question.words}, {question.most}{reached}"))
        arms = dict.fromkeys(row.choice for row in reversed(question.rows))
        chosen |= arms
        measured |= {row.x for row in question.rows}
        if unsettled := [numbers.quantity(row.x, row.axis_unit) for row in question.rows if row.verdict == OPEN]:
            lines.append(f"Open at {numbers.listed(unsettled)}: a larger --minutes may decide")
        costs = [(row.costs[usual], row.x, row.axis_unit) for row in question.rows if usual in row.costs]
        if usual not in arms and costs:
            cost, x, unit = max(costs)
            lines.append(f"{usual} is at most {numbers.significant(cost)} times worse, at {numbers.quantity(x, unit)}")
    if left_out := [f"{count:,}" for count in counts if count not in measured]:
        lines.append(f"Not measured: {numbers.listed(left_out)}; the page says why")
    lines += holes.impossible(tables.load(results, ["validities"]).validities, name)
    # A loop needs no explanation beside another choice.
    arms_to_paste = [arm for arm in chosen if arm != usual or not experiment.farming] or list(chosen)
    texts = {arm: farms.snippet(arm) or experiment.snippets.get(arm, "") for arm in arms_to_paste}
    pasted = [["", f"{arm}, to paste:", *filter(None, text.splitlines())] for arm, text in texts.items() if text]
    return lines, pasted


@step(
    "own_task my_work.py --output pilot.json",
    value("experiment", "experiment on a user's file"),
    path("file", "Python file"),
    path("--output", "JSON file to write"),
)
def pilot(chosen: Namespace) -> None:
    """Call a user's functions a few times, and record their duration and size."""
    from dataclasses import asdict

    from crossover.config import user_file
    from crossover.measure.launch import driver

    # The file may close it, or open so many files that no other can be opened.
    said = os.dup(2)
    try:
        found = driver.find_users(chosen.experiment).look(chosen.file.name, user_file.sources(chosen.file))
    except CrossoverError as error:
        os.write(said, str(error).encode(errors="replace"))
        os._exit(1)
    chosen.output.write_text(json.dumps(asdict(found)), encoding="utf-8")
    # Without waiting for threads that a task has started.
    os._exit(0)
