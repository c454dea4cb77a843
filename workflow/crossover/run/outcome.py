"""How a run ends in which parts failed: with a sentence that names them, so that the run's exit code is 1."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crossover.records.failure import Failure


def conclude(workflow: Any) -> bool:
    """Whether a part failed of what this run was asked for. Says which, and has the same command try it again.

    The steps that fail leave whole files, which Snakemake would take as they are. So it is told, as of a job that was
    killed, that they are not complete.
    """
    from crossover.records import failure  # only at the end: this module is loaded at each look at the workflow

    logs: dict[Failure, str] = {}
    steps = [job for job in workflow.dag.jobs if job.is_local and all(Path(path).exists() for path in job.output)]
    # In the order in which they were done: a later step repeats the failures in the files that it reads.
    for job in sorted(steps, key=lambda job: max((Path(path).stat().st_mtime_ns for path in job.output), default=0)):
        if found := [each for path in job.output for each in failure.of(Path(path))]:
            workflow.persistence.started(job)
            for each in found:
                logs.setdefault(each, str(next(iter(job.log), "")))
    if logs:
        print(sentences(logs, logs), file=sys.stderr, flush=True)
    return bool(logs)


def sentences(failures: Iterable[Failure], logs: Mapping[Failure, str] | None = None) -> str:
    """What failed, for a terminal: a line for each cause, with the log that holds its traceback."""
    from crossover.records import failure

    known = logs or {}
    groups = failure.grouped(list(failures))
    lines = []
    for cause, group in groups.items():
        files = dict.fromkeys(known[each] for each in group if known.get(each))
        lines.append(f"  {failure.names(group)}: {cause.error}" + (f" ({cause.place})" if cause.place else ""))
        lines += [f"    traceback: {', '.join(files)}"] if files else []
    return "\n".join(
        [
            "Parts of this run failed. All else was made, and the page says what is missing:",
            *lines,
            "This is probably a fault of crossover: please report it. The same command tries again what failed.",
        ]
    )
