"""The jobs in which a run's launches are measured: which launches share one, in which order, for how long."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crossover.planning import batches, second_sweep
from crossover.planning.plan import Config, LaunchName
from crossover.planning.receipt import Receipt


@dataclass
class Jobs:
    """The jobs by the configuration and the `resources` that a profile gives to launches.

    No job requests more than `most_minutes`; launches over several hosts with different `options` do not share one.
    """

    config: Config
    resources: Mapping[str, Any]
    most_minutes: float = math.inf
    options: Callable[[LaunchName], Any] = lambda _: None
    _job: dict[str, tuple[str | None, list[str]]] = field(default_factory=dict)
    """The group of each launch, and the launch before it in the job, by receipts."""
    _minutes: dict[str, int] = field(default_factory=dict)
    _times: batches.Times = field(default_factory=batches.Times)

    def learn(self, held: Iterable[Receipt]) -> None:
        """Let launches request what earlier ones took."""
        self._times = batches.times(self.resources, held)

    def split(self, launches: Sequence[LaunchName], failed: Sequence[LaunchName] = ()) -> list[list[LaunchName]]:
        """The launches by job. One that `failed` before has its own: it would end the job of others again."""
        others = [launch for launch in launches if launch not in failed] if failed else launches
        bounds = batches.bounds(self.resources, self.most_minutes)
        shared = batches.jobs(self.config, bounds, others, self.options, self._times)
        return [*shared, *([launch] for launch in failed)]

    def add(self, launches: Sequence[LaunchName], receipts: Sequence[str]) -> None:
        """Make a job of these launches, which have these receipts."""
        name = f"launches-{len(self._job) + 1}" if len(receipts) > 1 else None
        for place, path in enumerate(receipts):
            self._job[path] = name, list(receipts[max(0, place - 1) : place])
        self._minutes |= zip(receipts, batches.shares(self.times(launches), self.most_minutes), strict=True)

    def times(self, launches: Iterable[LaunchName]) -> list[float]:
        """The minutes that each launch would request, besides the start of its job."""
        of_launch = second_sweep.of_launches(self.config)
        return [self._times.minutes(launch, of_launch(launch)) for launch in launches]

    def group(self, receipt: str) -> str | None:
        """The name of a job of several launches."""
        return self._job.get(receipt, (None, []))[0]

    def before(self, receipt: str) -> list[str]:
        """The receipt of the launch before this one in its job, if any."""
        return self._job.get(receipt, (None, []))[1]

    def minutes(self, receipts: Iterable[str]) -> int:
        """The minutes that launches request, with the start of their job if they are all of it."""
        return sum(self._minutes.get(path, 1) for path in receipts)
