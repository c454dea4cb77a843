"""No farm: the client runs the tasks one after another."""

from collections.abc import Sequence
from typing import Any

from crossover.measure.farms import Farm, Task


class Client(Farm):
    """A loop, which no engine shares."""

    def submit(self, task: Task, arguments: Sequence[Any]) -> None:
        """Run all tasks."""
        self._results = [task(argument) for argument in arguments]

    def wait(self) -> list[Any]:
        """The results."""
        return self._results

    def stop(self) -> None:
        """Nothing runs any more."""
