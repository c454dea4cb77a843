"""A tournament of ping-pong between all pairs of hosts: which host or link is slow?"""

import math
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Self

from crossover.design import settings
from crossover.design.cell import Axis, Metric
from crossover.design.experiments import ANY, Experiment

LATENCY, BANDWIDTH = "latency", "bandwidth"
METRICS = (Metric(LATENCY, "s", "lower"), Metric(BANDWIDTH, "MB/s", "higher"))
LONGEST_BYTES = 4096
"""Messages up to this size have a latency, longer ones a bandwidth."""

LOADED, ALONE = "all pairs at once", "one pair at a time"

FEWEST_HOSTS = 4
"""Among three, a slow host looks like two slow links."""

START_SECONDS, START_SECONDS_PER_HOST = 3, 0.02
"""The time of a launch besides its rounds. Its ranks start beside each other, and meet once."""

AROUND_SECONDS = 0.02
"""The time of a block besides that of its messages: commands and results."""


@dataclass(frozen=True, kw_only=True)
class Settings(settings.Settings):
    """Its settings."""

    pairs_of_hosts: ClassVar[bool] = True

    message_bytes: Annotated[
        settings.Points,
        f"The axis, sizes of a message. Up to {LONGEST_BYTES} B the metric is the {LATENCY}, beyond the {BANDWIDTH}.",
    ] = (8, 1_000_000)
    hosts: Annotated[
        int,
        settings.Ge(FEWEST_HOSTS),
        "The most hosts of a launch, with a rank on each; fewer if Slurm grants a job no more.",
    ] = 16
    all_pairs_hosts: Annotated[
        int,
        settings.Ge(FEWEST_HOSTS),
        "Up to so many hosts, every host plays against every other. Among more, it plays against `sampled_rounds` "
        "others, which are different ones in each launch.",
    ] = 64
    sampled_rounds: Annotated[settings.RoundCount, "See `all_pairs_hosts`."] = 15
    alone_pairs: Annotated[settings.Count, f"The most pairs of a round that play in the arm `{ALONE}`."] = 8
    minimum_effect: Annotated[
        settings.Seconds, "A host or link is called slow if it is surely slower by more than this fraction."
    ] = 0.05
    arms: Annotated[
        settings.Arms,
        settings.OneOf((LOADED, ALONE)),
        f"`{LOADED}`: every host plays in every round, so links that several pairs share are under load. `{ALONE}`: "
        "the other hosts sleep meanwhile; among many hosts a sample of the pairs.",
    ] = (LOADED, ALONE)
    reference: Annotated[str, settings.OneOf(of="arms"), settings.REFERENCE] = LOADED
    placements: Annotated[
        settings.Some, settings.OneOf(("nodes",)), "Where the ranks are. `nodes`: on a host each."
    ] = ("nodes",)

    def hosts_across(self) -> int:
        """The hosts of a launch."""
        return self.hosts

    def ranks_between(self) -> int:
        """One on each host."""
        return self.hosts

    def fitted(self, hosts: int) -> Self:
        """The settings where a launch can have at most so many hosts."""
        return replace(self, hosts=max(FEWEST_HOSTS, min(self.hosts, hosts)))

    @property
    def tournament_rounds(self) -> int:
        """The rounds after which every host has played against all others, or against enough of them."""
        return self.sampled_rounds if self.hosts > self.all_pairs_hosts else self.hosts - 1 + self.hosts % 2

    def within(self, placement: str) -> Self:
        """The settings with a whole tournament in each cell, even if that takes longer than the budget."""
        rounds = self.tournament_rounds
        own = super().within(placement)
        return replace(
            own,
            fewest_rounds=rounds,
            rounds=settings.Rounds(at_least=max(3, rounds), at_most=max(self.rounds.at_most, rounds)),
        )

    @property
    def expected_seconds(self) -> float:
        """The expected time of a launch: of a whole tournament, or of the rounds that its budget allows."""
        # The reference and the null arm have a block each, and so has every pair that plays alone.
        blocks = 2 + min(self.alone_pairs, self.hosts // 2)
        round_seconds = blocks * (self.block_seconds + AROUND_SECONDS)
        whole = len(self.message_bytes) * self.tournament_rounds * round_seconds
        return START_SECONDS + START_SECONDS_PER_HOST * self.hosts + max(self.seconds, whole)

    @property
    def limit_seconds(self) -> int:
        """The time after which the supervisor ends the launch."""
        return math.ceil(90 + 4 * self.expected_seconds)


QUICK = Settings(
    launches=3,
    block_seconds=0.02,
    rounds=settings.Rounds(at_most=500),
    target_width=0.001,
    budget_seconds=10,
)
STANDARD = replace(QUICK, launches=6, budget_seconds=30)
PAPER = replace(STANDARD, launches=12, budget_seconds=60)
SMOKE = replace(QUICK, launches=2, budget_seconds=2)

EXPERIMENT = Experiment(
    title="Pairs of hosts: which host or link is slow",
    about="Every host plays ping-pong with every other through mpi4py, as in a tournament.",
    subject="Pairs of hosts",
    action="exchange buffers between two hosts",
    library="mpi4py",
    place=57,
    synonyms={
        "slow node": "slow host",
        "slow nodes": "slow host",
        "node is slow": "slow host",
        "stragglers": "slow host",
    },
    axis=Axis("message size", "bytes"),
    metrics=METRICS,
    chosen_by={},
    keys={"ranks": ANY},
    tiers=settings.Tiers(SMOKE, QUICK, STANDARD, PAPER),
)
