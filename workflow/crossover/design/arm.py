"""The alternatives that an experiment compares."""

from dataclasses import dataclass

from crossover.design.settings import Settings


@dataclass(frozen=True)
class Arm:
    """One alternative. The null arm is the reference entered a second time, under the name `null`."""

    name: str
    runs: str
    """The alternative that runs: `name`, or the reference for the null arm."""
    ceiling: bool = False
    """Whether it is a bound instead of a rival, such as the same exchange in C."""

    @property
    def null(self) -> bool:
        """Whether this is the null arm, whose difference from the reference is the machine's noise."""
        return self.name == "null"


def arms_of(settings: Settings) -> list[Arm]:
    """The arms of a launch: the reference, its rivals, the null arm, then the ceilings."""
    reference = settings.reference
    ceilings = [Arm(name, name, ceiling=True) for name in settings.ceilings]
    return [
        Arm(reference, reference),
        *(Arm(name, name) for name in settings.rivals),
        Arm("null", reference),
        *ceilings,
    ]
