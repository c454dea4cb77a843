"""The start and the end of a run: the bodies of Snakemake's onstart, onsuccess and onerror."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import snakemake_logger_plugin_crossover as display
import snakemake_scheduler_plugin_crossover as order
from crossover.design.farming import Farming
from crossover.design.launch import Launch
from crossover.doctor import conclude, facts
from crossover.errors import CrossoverError, plain
from crossover.paths import SITE
from crossover.planning import estimate, plan, receipt
from crossover.planning.receipt import Files
from crossover.records import atomic, rows, temporary
from crossover.slurm import acceptance, cluster, jobs, submission
from crossover.workflow import ending, failures, folders, session
from crossover.workflow.failures import Attempts
from crossover.workflow.run import Run


def start(run: Run) -> None:
    """Claim the results, end the jobs of a killed run, and check that Slurm accepts those of this one."""
    workflow = run.workflow
    on_slurm = workflow.executor_plugin.name == "slurm"
    with plain():
        atomic.require_space(run.results)
        folders.claim(run.results)
        if on_slurm and (left := jobs.cancel_earlier(run.results)):
            display.say(left)
    if on_slurm:
        submission.restore_configuration()
        temporary.sweep()
        submission.stand_in(temporary.prefix())
        if "--exclusive" in str(run.slurm.get("slurm_extra")):
            submission.request_whole_memory()
    # The doctor reports refused jobs itself, and checks the rest.
    if conclude.asked(workflow):
        display.begin(display.Run())
        if on_slurm:
            jobs.follow(jobs.name_start(run.results), display.say)
        return
    with plain():
        folders.require_no_higher_tier(run.results, run.config.tier)
        if on_slurm:
            acceptance.check(workflow.executor_settings.array_jobs, requests_of(run))
    tell(run)
    order.begin(run.plan.place)
    follow(run, on_slurm)
    if on_slurm:
        jobs.follow(jobs.name_start(run.results), display.say)
    if workflow.nodes is None:
        ending.say_on_signals(display.say)
    else:
        cancel = partial(jobs.cancel_without_waiting, run.results) if on_slurm else lambda: None
        ending.on_signals(display.say, cancel, partial(_interrupted, run))


def requests_of(run: Run) -> list[dict[str, Any]]:
    """The resources of the jobs of Slurm that are due now, one for each kind."""
    found: dict[Any, dict[str, Any]] = {}
    extra = session.slurm_extra(run.workflow)
    for job in run.plan.jobs:
        launches = [*job.launches.values()]
        nodes = max(launch.settings.nodes for launch in launches)
        own = session.slurm_resources(run.workflow, launches[0].identity)
        kind = found.setdefault((nodes, extra(launches[0])), own | {"nodes": nodes})
        kind["runtime"] = max(kind.get("runtime", 0), sum(job.shares))
        kind["tasks"] = max(kind.get("tasks", 0), *(launch.settings.slurm_tasks for launch in launches))
    return list(found.values())


def tell(run: Run) -> None:
    """Print the number of launches to measure, and their expected time."""
    own = run.plan
    told = [
        *own.remarks,
        own.estimate.outlook,
        *_of_engines(own.estimate.due),
        *of_partition(run),
        estimate.curtailed([minutes for job in own.jobs for minutes in job.minutes], run.most_minutes),
    ]
    print(*filter(None, told), sep="\n", file=sys.stderr, flush=True)


def _of_engines(due: Sequence[Launch]) -> list[str]:
    """How many engines farms have, in words, if there are more than two."""
    farming = {launch.experiment: launch.settings for launch in due if isinstance(launch.settings, Farming)}
    most = max((settings.engine_count() for settings in farming.values()), default=0)
    return [f"task farms have up to {most} engines; config/README.md says how to change it"] if most > 2 else []


def of_partition(run: Run) -> list[str]:
    """The launches that are wider than a node of Slurm's partition, and a bound of jobs below its nodes, in words."""
    if not run.slurm:
        return []
    offered, most = cluster.partition(run.slurm.get("slurm_partition")), run.workflow.nodes
    lines = [estimate.oversubscribed(run.plan.estimate.widths, offered.processors)]
    if most < min(offered.nodes or 0, len(run.plan.jobs)):
        at_once = f"{most} job{'s' * (most > 1)} at a time, on {offered.nodes} nodes"
        lines.append(f"at most {at_once}; to allow more, set `jobs:` in {SITE}")
    return lines


def follow(run: Run, on_slurm: bool) -> None:
    """Show the progress from now on."""
    files = {launch.name: Files(Path(path)) for path, launch in run.plan.launches.items()}

    def failed(keys: Sequence[tuple[str, str, int]], job: str | None) -> tuple[tuple[str, str, int], str]:
        launch, words = attempts.failed([files[key] for key in keys], job)
        # What a signal ends is no failure.
        return launch.name, "" if ending.INTERRUPTED.is_set() else words

    attempts = run.attempts = Attempts(
        run.workflow.execution_settings.retries + 1,
        jobs.fate_of if on_slurm else None,
        submission.last_refusal,
        lambda job: next(Path(run.results, "logs", "slurm").rglob(f"{job}.log"), None),
    )
    display.begin(
        display.Run(
            due=[launch.name for launch in run.plan.due.values()],
            seconds={launch.name: launch.settings.expected_seconds for launch in run.plan.launches.values()},
            wall_seconds=run.plan.estimate.cost.wall_seconds,
            ended=lambda key: ended(files[key].path),
            took=lambda key: receipt.read(files[key].path).wall_seconds,
            written=lambda key: _written(files[key].path),
            failed=failed,
            result=lambda experiment: _first_result(run.results, experiment),
            duration=estimate.duration,
        ),
    )


def ended(file: Path) -> tuple[bool, str]:
    """Whether a launch was measured, and its end in words, from its receipt."""
    held = receipt.read(file)
    if held.measured:
        return True, f"measured in {held.wall_seconds:.0f} s"
    return False, f"not measured ({held.hole}): {held.reason}"


def _written(file: Path) -> bool:
    """Whether this run has written a receipt."""
    # The time of the file is no help: after a failed job, Snakemake copies the receipt back that it had before.
    return file.exists() and receipt.read(file).of_this_run


def _first_result(results: str, experiment: str) -> str:
    """The strongest result of an experiment whose tables are written."""
    # Imported here, because every Snakemake process loads this module, and only one shows results.
    from crossover.report.pages import terminal

    return terminal.strongest(Path(results, "experiments", experiment))


def success(run: Run, logs: Sequence[str]) -> None:
    """The end of a run whose jobs all ended: its duration, failures, the answer. Exits with 1 if anything failed."""
    if conclude.asked(run.workflow):
        sys.exit(_diagnose(run, logs))
    # A user can leave launches out.
    limits = run.workflow.dag_settings
    failed = _end(run, succeeded=not (limits.until or limits.omit_from or limits.batch))
    _answer(run)
    if failed:
        sys.exit(1)


def error(run: Run, logs: Sequence[str]) -> None:
    """The end of a run in which a job failed."""
    if conclude.asked(run.workflow):
        _diagnose(run, logs)
        return
    with run.ending:
        run.ended = True
        _end(run)
    with plain():
        atomic.require_space(run.results)


def _diagnose(run: Run, logs: Sequence[str]) -> int:
    """Print the doctor's findings; returns the exit code."""
    display.end()
    executor, placements = run.workflow.executor_plugin.name, facts.placements(run.config.hosts)
    return conclude.conclude(executor, run.results, placements, logs, run.config.too_few_nodes, plan.wider(run.config))


def _end(run: Run, succeeded: bool = False) -> bool:
    """Print how long the run took, and what failed; returns whether it must end with exit code 1.

    `succeeded` tells that no job of Snakemake failed, and that all were to run.
    """
    display.end()
    due = [*run.plan.due]
    review = run.plan.estimate.review(_ended(due), run.began) if due else ""
    reasons = run.attempts.reasons if run.attempts else {}
    lacking = failures.find(run.plan.launches, due, reasons, succeeded)
    if ending.INTERRUPTED.is_set():
        # Who has ended a run knows why launches are missing.
        print(*filter(None, [review.partition("\n")[0], lacking.first_line]), sep="\n", file=sys.stderr, flush=True)
        return True
    unreadable = failures.unreadable(run.results, run.plan.tables)
    for text in filter(None, [review, str(lacking), unreadable]):
        print(text, file=sys.stderr, flush=True)
    return bool(unreadable or lacking.fails)


def _interrupted(run: Run) -> None:
    """The end of a run that a signal has ended, unless Snakemake reaches it by itself; returns once it is printed."""
    with run.ending:
        if not run.ended:
            _end(run)


def _ended(due: Sequence[str]) -> list[tuple[rows.Launch, float]]:
    """The launches that ended in this run, each with the time when it was written."""
    from crossover.records import record

    found = []
    for file in filter(_written, map(Path, due)):
        held = receipt.read(file)
        with suppress(CrossoverError):
            fact = record.metadata(record.read(held.raw_file, record.MEASUREMENTS))["launch"]
            found.append((rows.Launch.of(fact), held.written))
    return found


def _answer(run: Run) -> None:
    """Print the answer of the run, or of the experiments that were its targets."""
    from crossover.report.pages import terminal

    results = Path(run.results)
    own = [results / "experiments" / name for name in sorted(run.plan.tables)]
    for folder in [results] if run.plan.joined else own:
        print(flush=True)
        with plain():
            terminal.show(folder)
