"""A user's aim for a setting."""

from dataclasses import dataclass

from crossover.design.protocol import Keys


@dataclass(frozen=True)
class Aim:
    """What a user wants of an experiment, and the metric that decides it."""

    name: str
    """In the user's words, to follow "for"."""
    metric: str
    where: Keys
    """The keys of the curves that decide."""
    condition: tuple[str, ...] = ()
    """The keys that name the condition; without any, the whole protocol does. Curves of several aims under the same
    condition are compared."""
    beside: tuple[str, ...] = ()
    """Metrics of the same curves that are shown beside a recommendation, but never decide it."""
    experiment: str = ""
    """The experiment that declares it; `experiments.aim` sets it."""
