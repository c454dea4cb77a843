"""Reports failed parts and unreadable raw files at the end of a run, so that its exit code is 1."""

import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from crossover.errors import CrossoverError
from crossover.records import failure, record
from crossover.records.failure import Failure
from crossover.records.holes import HoleKind


def conclude(workflow: Any) -> bool:
    """Whether any part of this run's targets failed. Prints those, and makes the same command repeat them.

    A failed step leaves a whole file, which Snakemake would accept. So this marks the file as incomplete, like that of
    a killed job.
    """
    logs: dict[Failure, str] = {}
    steps = [job for job in workflow.dag.jobs if job.is_local and all(Path(path).exists() for path in job.output)]
    # In order of time, because a later step repeats the failures of its input files.
    for job in sorted(steps, key=lambda job: max((Path(path).stat().st_mtime_ns for path in job.output), default=0)):
        if found := [each for path in job.output for each in failure.of(Path(path))]:
            workflow.persistence.started(job)
            for each in found:
                logs.setdefault(each, str(next(iter(job.log), "")))
    if logs:
        print(sentences(logs, logs), file=sys.stderr, flush=True)
    return bool(logs)


def unreadable(workflow: Any) -> dict[str, str]:
    """The raw files of this run that could not be read, each with the reason.

    Their tables are marked as incomplete too, because a file that is restored has an old time.
    """
    found: dict[str, str] = {}
    for job in workflow.dag.jobs:
        for path in job.output:
            if Path(path).name == "launches.parquet" and (own := _unreadable(Path(path))):
                workflow.persistence.started(job)
                found |= own
    return found


def _unreadable(launches: Path) -> dict[str, str]:
    # A missing or damaged table has ended its step with a message.
    with suppress(record.RecordError):
        rows = record.read(launches, record.LAUNCHES).to_pylist()
        return {row["file"]: row["reason"] for row in rows if row["hole"] == HoleKind.UNREADABLE}
    return {}


def of_launch(raw: Path) -> tuple[bool, str]:
    """Whether a launch was measured, and its end in words, from its raw file."""
    try:
        facts = record.metadata(record.read(raw, record.MEASUREMENTS))["launch"]
    except CrossoverError as error:
        return False, f"not measured: {error}"
    if facts["outcome"] == "measured":
        return True, f"measured in {facts['wall_seconds']:.0f} s"
    return False, f"not measured ({facts['hole']}): {facts['reason']}"


def sentences(failures: Iterable[Failure], logs: Mapping[Failure, str] | None = None) -> str:
    """The failures, for a terminal: a line for each cause, and the log with its traceback."""
    known = logs or {}
    lines = []
    for cause, group in failure.grouped(list(failures)).items():
        files = dict.fromkeys(known[each] for each in group if known.get(each))
        lines.append(f"  {failure.names(group)}: {cause.error}" + (f" ({cause.place})" if cause.place else ""))
        lines += [f"    traceback: {', '.join(files)}"] if files else []
    return "\n".join(
        [
            "Parts of this run failed; the rest is complete, and the page names the missing parts:",
            *lines,
            "This is probably a bug in crossover: please report it. To retry the failed parts, repeat the command.",
        ]
    )
