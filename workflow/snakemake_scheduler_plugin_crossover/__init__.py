"""The order in which the jobs of a run start: a scheduler plugin, which Snakemake finds by the name of this package.

Snakemake's own schedulers let ready jobs of equal priority start in any order, so the launches of an experiment would
follow each other and share one state of the machine. A run gives the order by `begin`.

Like the logger plugin, it imports nothing of `crossover`: Snakemake loads it before the Snakefile chooses the checkout
whose code runs.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from snakemake_interface_scheduler_plugins.base import SchedulerBase

Place = tuple[Any, ...]
"""The place of a job in the order: the least comes first."""

_place_of: Callable[[str], Place] = lambda _: ()  # noqa: E731


def begin(place_of: Callable[[str], Place]) -> None:
    """Let jobs of equal priority start in the order of `place_of` the first of their outputs."""
    global _place_of
    _place_of = place_of


class Scheduler(SchedulerBase):  # type: ignore[misc]
    """Starts, in order, every job for which there are resources."""

    def select_jobs(
        self,
        selectable_jobs: Sequence[Any],
        remaining_jobs: Sequence[Any],
        available_resources: Mapping[str, int | str],
        input_sizes: Mapping[Any, int],
    ) -> list[Any]:
        """The jobs to start now, of those that are ready. Resources are numbers by name."""
        free, selected = dict(available_resources), []
        for job in sorted(selectable_jobs, key=_in_order):
            needs = {name: job.scheduler_resources.get(name, 0) for name in free}
            if all(needs[name] <= free[name] for name in free):
                selected.append(job)
                free = {name: free[name] - needs[name] for name in free}
        return selected


def _in_order(job: Any) -> tuple[int, Place]:
    return -job.priority, _place_of(next(map(str, job.output), ""))
