"""Decides which receipt each launch of a run must have, and lists how measured launches differ from the run's own.

Launches can take hours to repeat. So a run that would measure differently ends with the list, unless the user asks to
remeasure. The next *turn* of a launch is due if the last one left a hole of a kind that passes, or of code that has
changed, if its raw file is gone, and if it is to be remeasured and differs. A turn is a new file: nothing is deleted.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from crossover import code_digest
from crossover.design import experiments, farms
from crossover.design.config import Config
from crossover.design.launch import LOADED, Launch
from crossover.design.settings import Settings
from crossover.planning import receipt
from crossover.planning.estimate import duration
from crossover.planning.receipt import VARIABLES, Files, Held, Receipt
from crossover.records import json_text
from crossover.records.holes import HoleKind

ALWAYS = (*LOADED, "pyzmq", "mpi4py", "mpich", "openmpi", "numpy")
"""Software whose version can change any result; experiments and task farms name further packages."""

CODE = "the code that measures"
"""The difference of a launch that other code has measured."""

ABSENT = "none"
"""The shown value of a missing setting."""


@dataclass(frozen=True)
class Forced:
    """What the command measures again, whatever exists (-F, -R, -f)."""

    everything: bool = False
    names: frozenset[str] = frozenset()
    """Receipts, and rules."""

    def __contains__(self, path: str) -> bool:
        return self.everything or not {path, "launch"}.isdisjoint(self.names)


@dataclass(frozen=True)
class Demand:
    """A run: its complete configuration, the receipts at its start, the software versions here (None if unknown).

    A receipt that the command has `forced` is measured again itself, in no further turn.
    """

    config: Config
    held: Held
    software: Mapping[str, str] | None = None
    forced: Forced = Forced()
    of_cluster: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The keys of each experiment that this cluster decided, not the configuration; measured launches keep theirs."""

    @cached_property
    def _here(self) -> dict[str, str]:
        # What ranks will load is unknown before they start; the newest launch tells it best.
        measured = [each for own in self.held.values() for each in own if each.measured]
        newest = max(measured, key=lambda each: each.written).software if measured else {}
        return {name: newest[name] for name in (*LOADED, VARIABLES) if name in newest} | dict(self.software or {})

    @cached_property
    def receipts(self) -> dict[str, Receipt]:
        """The receipts that exist, by their paths."""
        return {str(each.path): each for own in self.held.values() for each in own}

    def due(self, launches: Mapping[str, Launch]) -> dict[str, Launch]:
        """Those of these launches, by their receipts, that must be measured."""
        return {path: own for path, own in launches.items() if path not in self.receipts or path in self.forced}

    def path(self, launch: Launch) -> str:
        """The path of the receipt that a launch must have."""
        return str(self.planned(launch).path)

    def planned(self, launch: Launch) -> Files:
        """The files that a launch must have."""
        own = self._alike(launch)
        last = self._last(own, launch.settings)
        if last and (str(last.path) in self.forced or not self._due(last, launch.settings)):
            return last
        turn = max((each.turn for each in own), default=-1) + 1
        return Files.of(self.config.results, self.config.tier, launch, turn)

    def existing(self, experiment: str) -> list[str]:
        """The receipts of a partial run: the latest of each launch of an experiment."""
        every = [receipt.latest(own) for which, own in self.held.items() if which[0] == experiment]
        return [str(each.path) for each in every if each]

    def _alike(self, launch: Launch) -> list[Receipt]:
        """The receipts of a launch with its present settings."""
        return [each for each in self.held.get(launch.name, ()) if each.digest == launch.settings.digest]

    def _last(self, own: Sequence[Receipt], settings: Settings) -> Receipt | None:
        """The receipt that counts, of those of a launch with these settings: one like this run's, if there is one."""
        whole = [each for each in own if each.complete] or own
        return max(whole, key=lambda each: (not self._others(each, settings), each.measured, each.turn), default=None)

    def _due(self, last: Receipt, settings: Settings) -> bool:
        """Whether a launch must be measured again."""
        kind = HoleKind(last.hole or "")
        if not last.complete or kind == HoleKind.DISTURBED:
            return True
        others = self._others(last, settings)
        of_code = kind == HoleKind.EXCEPTION and CODE in others
        return bool(others) and (self.config.remeasure if last.measured else of_code)

    def _others(self, held: Receipt, settings: Settings) -> list[str]:
        """Differences in code and software of a launch that was measured with these settings."""
        found = []
        if held.code and held.code != code_digest.of_launch(held.name[0], settings.entrants):
            found.append(CODE)
        if held.software and self._here:
            packages = [*experiments.of(held.name[0]).packages]
            for entrant in settings.entrants.values():
                packages += farms.declared()[entrant["farm"]].packages
            names = LOADED if self.software is None else (*ALWAYS, *packages)
            both = [{name: own[name] for name in names if name in own} for own in (held.software, self._here)]
            found += _changed("", *both)
            variables = [_variables(own) for own in (held.software, self._here)]
            # Earlier releases did not record them.
            found += () if None in variables else _changed("", *variables)
        return found

    def differing(self, launch: Launch) -> tuple[Receipt | None, list[str]]:
        """The measurement of a launch that differs from this run's, and its differences, as `name: before, now after`.

        None and nothing if the launch is not measured, or as this run would.
        """
        last = self._last(self._alike(launch), launch.settings)
        if last and last.complete:
            return (last, self._others(last, launch.settings)) if last.measured else (None, [])
        before = receipt.latest(self.held.get(launch.name, ()))
        if before is None or not before.measured:
            return None, []
        changed = _changed("", receipt.stored_settings(before), launch.settings.stored)
        return before, [*changed, *self._others(before, launch.settings)]

    def conflict(self, launches: Iterable[Launch]) -> str:
        """The message to the user if measured launches among these differ from this run; empty if none do."""
        if self.config.partial or self.config.remeasure:
            return ""
        alike: dict[tuple[str, str, str], list[Receipt]] = defaultdict(list)
        for launch in launches:
            held, differences = self.differing(launch)
            if held and differences:
                alike[launch.experiment, launch.placement, "; ".join(differences)].append(held)
        every = [held for each in alike.values() for held in each]
        if not every:
            return ""
        differ = "measured launch differs" if len(every) == 1 else "measured launches differ"
        lines = [f"{len(every)} {differ} from what this command would measure; nothing was changed"]
        for (experiment, placement, changes), each in alike.items():
            numbers = ", ".join(str(held.name[2]) for held in each)
            lines.append(f"  {experiment}, placement {placement}, launch {numbers}: {changes}")
        return "\n".join(
            [
                *lines,
                f"measuring them took {duration(sum(held.wall_seconds for held in every))}; add one of these behind "
                "snakemake's --config:",
                "  partial=true: keep them, and report on all existing launches",
                f"  results={self.config.results}.new: measure into another folder",
                "  remeasure=true: remeasure them; the old files stay",
            ]
        )

    def remarks(self, launches: Iterable[Launch], others: Mapping[str, int]) -> list[str]:
        """Remarks on a partial report: the launches that it uses, then those that it leaves out, and why.

        `launches` are those that a whole run has, `others` the numbers of launches of other tiers.
        """
        experiments, planned = self.config.experiments, {launch.name: launch for launch in launches}
        used = [each for which, own in self.held.items() if which[0] in experiments and (each := receipt.latest(own))]
        measured = [each for each in used if each.measured]
        holes = len(used) - len(measured)
        lines = [f"partial: {len(measured)} measured launches and {holes} holes of tier {self.config.tier}"]
        if differing := sum(self._differs(each, planned.get(each.name)) for each in measured):
            lines.append(f"{differing} of them were measured with other settings, code or software than the current")
        unknown = sorted({which[0] for which in self.held} - set(experiments))
        lines += [f"left out: {name}, which the configuration does not list" for name in unknown]
        return lines + [f"left out: {count} launches of tier {tier}" for tier, count in others.items()]

    def _differs(self, held: Receipt, planned: Launch | None) -> bool:
        """Whether a launch was measured otherwise than `planned`; not if this run does not have it."""
        if planned is None:
            return False
        return held.digest != planned.settings.digest or bool(self._others(held, planned.settings))


def _variables(software: Mapping[str, str]) -> dict[str, str] | None:
    """The environment variables among software; None if they are unknown."""
    with suppress(LookupError, ValueError):
        own: dict[str, str] = json_text.parse(software[VARIABLES], dict)
        return own
    return None


def _changed(where: str, before: Any, now: Any) -> Iterator[str]:
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for each in [*before, *(each for each in now if each not in before)]:
            yield from _changed(f"{where}.{each}".lstrip("."), before.get(each, ABSENT), now.get(each, ABSENT))
    elif isinstance(before, list) and isinstance(now, list) and any(each in before for each in now):
        # The beginnings of two long lists are often equal.
        new, gone = ([each for each in one if each not in other] for one, other in ((now, before), (before, now)))
        parts = [
            f"{_short(', '.join(map(_short, entries)))} {'is' if len(entries) == 1 else 'are'} {what}"
            for entries, what in ((new, "new"), (gone, "gone"))
            if entries
        ]
        if parts or before != now:
            yield f"{where}: {', '.join(parts) or 'in another order'}"
    elif before != now and any(isinstance(text, str) and "\n" in text for text in (before, now)):
        yield f"{where}: another text"
    elif before != now:
        yield f"{where}: {_short(before)}, now {_short(now)}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
