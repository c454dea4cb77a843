"""The launches that a run leaves without a measurement: which, why, and the command that repeats them."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crossover.planning import inventory, plan
from crossover.planning.command_line import Command
from crossover.planning.plan import Config, Launch
from crossover.records.holes import HoleKind, alike, is_hole

OF_MACHINE = (HoleKind.NOT_BUILT, HoleKind.ANOTHER_MACHINE)
"""The kinds of holes that a run of this machine cannot avoid: they are named, but do not fail the run."""

NO_FILE = "no raw file"
"""In place of the kind of a hole: the job failed without the supervisor's record."""


@dataclass(frozen=True)
class Unmeasured:
    """The launches without a measurement: rows with the columns of `record.LAUNCHES`, grouped by `holes.alike`."""

    config: Config
    command: Command
    groups: list[list[Mapping[str, Any]]]

    @property
    def fails(self) -> bool:
        """Whether the run must end with exit code 1."""
        return any(group[0]["hole"] not in OF_MACHINE for group in self.groups)

    def __str__(self) -> str:
        """The number of launches, then each group with kind, reason and command; empty if there are none."""
        count = sum(map(len, self.groups))
        if not count:
            return ""
        first = f"{count} launch of this run was" if count == 1 else f"{count} launches of this run were"
        return "\n".join([f"{first} not measured", *map(self._words, self.groups), *self._page()])

    def _words(self, group: list[Mapping[str, Any]]) -> str:
        hole = group[0]
        numbers = ", ".join(str(each["launch"]) for each in group)
        again = self.command.forcing([plan.raw_file(self.config, dict(each)) for each in group])
        return (
            f"not measured: {hole['experiment']}, placement {hole['placement']}, launch {numbers} ({hole['hole']}): "
            f"{hole['reason']}; to retry:\n    {again}"
        )

    def _page(self) -> list[str]:
        """The command that makes the page without the missing files: they keep Snakemake from making it."""
        if not any(group[0]["hole"] == NO_FILE for group in self.groups):
            return []
        # A raw file cannot be a target there, because nothing is measured.
        targets = tuple(target for target in self.command.targets if target in self.config["experiments"])
        partial = replace(self.command, targets=targets).but(partial="true")
        return [f"to report on the existing launches now:\n    {partial}"]


def find(config: Config, command: Command, planned: Iterable[Launch], failed: Collection[Launch]) -> Unmeasured:
    """The launches among `planned` that are holes, and those among `failed`, whose job failed, without a raw file.

    A file that cannot be read is no launch of this list.
    """
    rows = []
    for launch in sorted(planned, key=lambda each: tuple(each.values())):
        path = Path(plan.raw_file(config, launch))
        if path.exists():
            rows.append({"hole": "unknown", "reason": "unknown", **inventory.raw_file(path).facts})
        elif launch in failed:
            rows.append({**launch, "outcome": "hole", "hole": NO_FILE, "reason": _reason(config, launch)})
    return Unmeasured(config, command, alike(row for row in rows if is_hole(row)))


def _reason(config: Config, launch: Launch) -> str:
    """The reason why a job left no file: the same text for jobs of one kind, so that they form a group."""
    log = Path(plan.LOG.format(results=config["results"], tier=config["tier"], **launch))
    last = next(reversed(log.read_text(errors="replace").splitlines()), "") if log.exists() else ""
    name = "{experiment} {placement} launch {launch}: ".format(**launch)
    discarded = last.removeprefix(name) if "launch discarded" in last else "its job ended early"
    return f"{discarded}; logs: {log.parent}"
