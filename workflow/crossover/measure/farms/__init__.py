"""Task farms: a place to submit tasks to, and engines that run them. One file per entrant.

A farm lives on rank 0; its engines are ranks, which *become* engines: they run the entrant's own loop in
the process, because a rank that waits in MPI meanwhile would spin.
"""

from __future__ import annotations

from typing import Any, Protocol


class Farm(Protocol):
    """A farm, seen from the experiment."""

    def start(self) -> None:
        """Start the farm's server, without waiting for it."""

    def invitation(self) -> Any:
        """Wait for the server; returns what the farm's engines need to know to join, for `serve`."""

    def join(self, engines: int) -> None:
        """Wait until `engines` have joined, and connect."""

    def submit(self, tasks: int) -> None:
        """Submit `tasks` empty tasks, one by one, and return when the last is submitted."""

    def wait(self) -> int:
        """Wait for all that was submitted; returns how many gave the right result."""

    def stop(self) -> None:
        """End the engines' loops and the server."""
