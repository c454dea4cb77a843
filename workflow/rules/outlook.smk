# Messages before anything runs: which measured launches differ from the run, and how long the run takes; then at its
# end: how long it took, and what failed.

import atexit
import json

from snakemake_logger_plugin_crossover import Run, begin, end as stop


def look() -> None:
    """Stop if measured launches differ from the run; at the end of a dry run, print how long the run would take."""
    experiments = {job.wildcards_dict.get("experiment") for job in workflow.dag.jobs}
    session.name_jobs(workflow, earlier_jobs.name(RESULTS))
    if conflict := asked.conflict(kept, experiments):
        sys.exit(conflict)
    if run["partial"]:
        print(*remarks, sep="\n", file=sys.stderr, flush=True)
    else:
        print(*old, sep="\n", end="\n" if old else "", file=sys.stderr, flush=True)
    if workflow.dryrun and not conclude.asked(workflow):
        atexit.register(tell)


def tell() -> None:
    """Print what is left to measure and how long it takes."""
    unrefined = [job["experiment"] for job in session.due(workflow, "refinement")]
    due = session.due(workflow, "launch")
    told = [course.outlook(due, unrefined), oversubscribed(due), course.curtailed(due, most_minutes)]
    print(*filter(None, told), sep="\n", file=sys.stderr, flush=True)


def oversubscribed(launches) -> str:
    """The launches that are wider than a node of Slurm's partition, in words."""
    widths = course.widths(launches) if slurm else []
    return estimate.oversubscribed(widths, acceptance.most_ranks(slurm, set(widths)))


def fit() -> dict[str, str]:
    """How the tier's launches fit on Slurm's partition, for the doctor; empty elsewhere."""
    if not slurm:
        return {}
    return {
        "tier": run["tier"],
        "wide": oversubscribed(list(plan.launches(run))),
        "left_out": ", ".join(plan.waiting(run)) if run.get("too_few_nodes") else "",
    }


def watch() -> None:
    """Show the progress from now on."""
    launches = [
        (job["experiment"], job["placement"], job["launch"]) for job in session.due(workflow, "launch")
    ]
    steps = sum(job.rule.name != "launch" for job in workflow.dag.needrun_jobs())

    def named(key):
        return dict(zip(("experiment", "placement", "launch"), key))

    begin(
        launches,
        steps,
        Run(
            seconds=lambda key: course.seconds(named(key)),
            ended=lambda key: ended(Path(plan.raw_file(run, named(key)))),
            written=lambda key: course.has_written(named(key)),
            result=first_result,
            duration=estimate.duration,
        ),
    )


def ended(raw: Path) -> tuple[bool, str]:
    """Whether a launch was measured, and its end in words."""
    from crossover.workflow import outcome

    return outcome.of_launch(raw)


def first_result(experiment: str) -> str:
    """The strongest result of an experiment whose tables are written."""
    from crossover.config.leads import leads
    from crossover.report.terminal import show

    return show.strongest(Path(RESULTS) / "experiments" / experiment, leads())


def answer() -> None:
    """Print the answer of the run, or of the experiments that were its targets."""
    from crossover.config.leads import leads
    from crossover.report.terminal import show

    results = Path(RESULTS)
    jobs = list(workflow.dag.jobs)
    experiments = sorted({job.wildcards_dict["experiment"] for job in jobs if job.rule.name == "tables"})
    whole = any(job.rule.name == "join" for job in jobs)
    for folder in [results] if whole else [results / "experiments" / name for name in experiments]:
        print(flush=True)
        with plain():
            show.show(folder, leads(), command=json.loads(command_line.own().stored()))


def keep_command() -> None:
    """Keep the command of this run, for `crossover more`."""
    if not run["partial"]:
        with plain():
            replication.keep(RESULTS, run["tier"], json.loads(command_line.own().stored()))


def idle() -> None:
    """Print the answer of a run with nothing left to do; exit with code 1 if launches of it were not measured."""
    if session.decides(workflow):
        keep_command()
        answer()
        if tell_unmeasured():
            sys.exit(1)


def tell_unmeasured() -> bool:
    """Print the launches of this run that were not measured; returns whether the run must fail because of them."""
    launches = session.planned(workflow, "launch")
    found = unmeasured.find(run, command_line.own(), launches, session.failed(workflow, "launch"))
    print(found, end="\n" if found.groups else "", file=sys.stderr, flush=True)
    return found.fails


def end() -> bool:
    """Print how long the run took, and what failed; returns whether a launch or a part failed, or a raw file could not
    be read."""
    # Imported here, because every Snakemake process reads this file, and only one ends a run.
    from crossover.workflow import outcome

    stop()
    due = session.due(workflow, "launch")
    said = [course.review(due), course.unchanged(due, held, command_line.own())]
    print(*filter(None, said), sep="\n", file=sys.stderr, flush=True)
    lacks = tell_unmeasured()
    unreadable = outcome.unreadable(workflow)
    if unreadable:
        lines = [f"not readable: {path}: {reason}" for path, reason in unreadable.items()]
        again = f"to measure them again:\n    {command_line.own().forcing(list(unreadable))}"
        print(*lines, again, sep="\n", file=sys.stderr, flush=True)
    return outcome.conclude(workflow) or bool(unreadable) or lacks
