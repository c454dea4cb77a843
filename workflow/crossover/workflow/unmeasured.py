"""The launches that a run leaves without a measurement: which, why, and the command that repeats them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crossover.planning import receipt
from crossover.planning.command import Command
from crossover.planning.inventory import Key, key
from crossover.planning.plan import LaunchName
from crossover.records.holes import HoleKind, alike

OF_MACHINE = (HoleKind.NOT_BUILT, HoleKind.ANOTHER_MACHINE)
"""The kinds of holes that a run of this machine cannot avoid: they are named, but do not fail the run."""

NO_FILE = "no raw file"
"""In place of the kind of a hole: the job failed without the supervisor's record."""

NOT_STARTED = "not started"
"""The same for a launch whose supervisor did not begin: the run was interrupted, or the launch before it failed."""


@dataclass(frozen=True)
class Unmeasured:
    """The launches without a measurement: rows with the columns of `record.LAUNCHES`, grouped by `holes.alike`."""

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
        which = f"not measured: {hole['experiment']}, placement {hole['placement']}, launch {numbers} ({hole['hole']})"
        if hole["hole"] == NOT_STARTED:
            return f"{which}; to measure {'it' if len(group) == 1 else 'them'}, repeat the command"
        return f"{which}: {hole['reason']}; to retry:\n    {self.command.forcing([each['receipt'] for each in group])}"

    def _page(self) -> list[str]:
        """The command that makes the page without the missing launches: they keep Snakemake from making it."""
        if not any(group[0]["hole"] in (NO_FILE, NOT_STARTED) for group in self.groups):
            return []
        # A receipt cannot be a target there, because nothing is measured.
        targets = tuple(target for target in self.command.targets if not target.endswith(".json"))
        partial = replace(self.command, targets=targets).but(partial="true")
        return [f"to report on the existing launches now:\n    {partial}"]


def find(
    command: Command, asked: Mapping[str, LaunchName], began: float, reasons: Mapping[Key, str] | None = None
) -> Unmeasured:
    """The launches among those `asked`, by receipt, that are holes or have no receipt; `began` is the start of the run.

    `reasons` are those of launches that failed in it. A raw file that cannot be read is no launch of this list.
    """
    rows = []
    for path, launch in sorted(asked.items(), key=lambda item: tuple(item[1].values())):
        file = Path(path)
        held = receipt.read(file) if file.exists() else None
        # A hole of an earlier run, whose retry in this one left nothing, has the reason of the retry.
        if held is None or (not held.measured and held.written < began and _began(receipt.log(file), began)):
            rows.append(_without_receipt(file, launch, began, (reasons or {}).get(key(launch), "")))
        elif not held.measured:
            rows.append(held.row)
    return Unmeasured(command, alike(rows))


def _without_receipt(file: Path, launch: LaunchName, began: float, reason: str) -> dict[str, Any]:
    """The row of a launch without a receipt, which failed for a `reason` if that is known."""
    log, row = receipt.log(file), {**launch, "outcome": "hole", "receipt": str(file)}
    if reason:
        logs = f"; logs: {log.parent}" if log.exists() else ""
        return row | {"hole": NO_FILE, "reason": f"{reason}{logs}"}
    if not _began(log, began):
        return row | {"hole": NOT_STARTED, "reason": ""}
    return row | {"hole": NO_FILE, "reason": f"its job ended early; logs: {log.parent}"}


def unchanged(command: Command, due: Iterable[str], began: float) -> str:
    """The message about receipts that were due but are older than the run: which, why, and the command for them.

    Empty if there are none.
    """
    held = [receipt.read(Path(path)) for path in due if Path(path).exists()]
    failed = [each for each in held if each.measured and each.written < began]
    if not failed:
        return ""
    lines = []
    for each in failed:
        log = receipt.log(each.path)
        why = f"its log ends with: {_last_line(log)}" if _began(log, began) else "it was not started"
        which = "{experiment}, placement {placement}, launch {launch}".format(**each.launch)
        lines.append(f"not remeasured: {which}; {why}")
    again = command.forcing([str(each.path) for each in failed])
    return "\n".join([*lines, f"their earlier measurements stay; to remeasure them:\n    {again}"])


def _began(log: Path, began: float) -> bool:
    """Whether the supervisor with this log began in this run."""
    return log.exists() and log.stat().st_mtime >= began


def _last_line(log: Path) -> str:
    return (log.read_text(encoding="utf-8", errors="replace").splitlines() or [""])[-1]
