"""Decides which measured launches a run keeps, and lists their differences from the run's own.

Launches can take hours to repeat. So a measured launch is kept unless the user asks to remeasure it: no rule produces
its file (`inventory.others`), and Snakemake treats it as a source, which it neither deletes nor writes.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from crossover import code_digest
from crossover.planning import farms, plan, second_sweep
from crossover.planning.command_line import Command
from crossover.planning.estimate import duration
from crossover.planning.inventory import RawFile
from crossover.planning.plan import SECOND_SWEEP, Config, Launch, canonical, read_settings
from crossover.records.holes import OF_CODE

ALWAYS = ("libzmq", "pyzmq", "mpi4py", "mpich", "openmpi", "numpy", "python")
"""Software whose version can change the result of any experiment; task farms name further packages."""

CODE = "the code that measures"
"""The difference of a launch that other code has measured."""

ABSENT = "none"
"""The shown value of a missing setting."""


class Remark(NamedTuple):
    """A sentence about launches that a partial run uses or leaves out, and the command that would include them."""

    text: str
    command: str = ""

    def __str__(self) -> str:
        return f"{self.text}; to report on them:\n    {self.command}" if self.command else self.text


@dataclass(frozen=True)
class Demand:
    """A run: its complete configuration, the command, and the software versions here (None if unknown here)."""

    config: Config
    command: Command
    software: Mapping[str, str] | None = None

    def kept(self, held: Iterable[RawFile]) -> list[RawFile]:
        """The measured launches that this run must not remeasure."""
        measured = [each for each in held if each.measured and not self.command.remeasures(each.path)]
        return [each for each in measured if not self.differences(each)] if self.config["remeasure"] else measured

    def repeated(self, held: Iterable[RawFile]) -> list[str]:
        """The raw files of the launches that `remeasure` asks for, and of holes whose code has changed since.

        The first are forced, because after a failure Snakemake takes the old file for one with the new settings.
        """
        return [each.path for each in held if self._repeats(each)]

    def _repeats(self, held: RawFile) -> bool:
        if held.measured:
            return bool(self.config["remeasure"] and self.differences(held))
        return held.facts.get("hole") in OF_CODE and CODE in self.differences(held)

    def differences(self, held: RawFile) -> list[str]:
        """Differences of a launch from this run's version of it, if it has one, each as `name: before, now after`."""
        if not self._plans(held.launch):
            return []
        try:
            settings = self._settings(held.launch)
        except second_sweep.MissingLaunchError:
            return []
        found = list(_changed("", read_settings(held.facts["settings"]), read_settings(canonical(settings))))
        code = held.facts.get("code")
        if code and code != code_digest.of_launch(held.launch["experiment"], settings):
            found.append(CODE)
        if self.software is not None and held.software:
            entrants = settings.get("entrants", {}).values()
            names = [*ALWAYS, *(name for entrant in entrants for name in farms.packages(entrant["farm"]))]
            both = [{name: known[name] for name in names if name in known} for known in (held.software, self.software)]
            found += _changed("", *both)
        return found

    def _plans(self, launch: Launch) -> bool:
        """Whether the run has this launch, or for one of the second sweep, its launch of the first."""
        if launch["launch"] <= SECOND_SWEEP:
            return tuple(launch.values()) in self._first_sweep
        refined = self.config["experiments"].get(launch["experiment"], {}).get("refine_points")
        return bool(refined) and self._plans(launch | {"launch": launch["launch"] - SECOND_SWEEP})

    @cached_property
    def _settings(self) -> second_sweep.OfLaunch:
        return second_sweep.of_launches(self.config)

    @cached_property
    def _first_sweep(self) -> set[tuple[Any, ...]]:
        return {tuple(launch.values()) for launch in plan.launches(self.config)}

    def conflict(self, kept: Iterable[RawFile], experiments: Collection[str]) -> str:
        """The message to the user if kept launches of these experiments differ from this run; empty if none do."""
        if self.config["partial"]:
            return ""
        alike: dict[tuple[str, str, str], list[RawFile]] = defaultdict(list)
        for held in kept:
            if held.launch["experiment"] in experiments and (found := self.differences(held)):
                alike[held.launch["experiment"], held.launch["placement"], "; ".join(found)].append(held)
        if not alike:
            return ""
        every = [held for each in alike.values() for held in each]
        results, again = self.config["results"], self.command.but
        differ = "measured launch differs" if len(every) == 1 else "measured launches differ"
        lines = [f"{len(every)} {differ} from what this command would measure; nothing was changed"]
        for (experiment, placement, differences), each in alike.items():
            numbers = ", ".join(str(held.launch["launch"]) for held in each)
            lines.append(f"  {experiment}, placement {placement}, launch {numbers}: {differences}")
        seconds = sum(held.facts.get("wall_seconds") or 0 for held in every)
        return "\n".join(
            [
                *lines,
                f"measuring them took {duration(seconds)}; choose one:",
                f"  keep them, and report on all existing launches:\n    {again(partial='true')}",
                f"  measure into another folder:\n    {again(results=f'{results}.new')}",
                "  remeasure them; each old file stays until its new measurement is finished:\n"
                f"    {again(remeasure='true')}",
            ]
        )

    def leaves_out(self, held: Sequence[RawFile], others: Mapping[str, int], of_no_tier: Sequence[str]) -> list[Remark]:
        """Remarks on a partial report: the launches that it uses, then those that it leaves out, and why; `others` are
        the numbers of launches of other tiers."""
        experiments = self.config["experiments"]
        used = [each for each in held if each.launch["experiment"] in experiments]
        measured = [each for each in used if each.measured]
        holes = len(used) - len(measured)
        lines = [f"partial: {len(measured)} measured launches and {holes} holes of tier {self.config['tier']}"]
        if differing := sum(bool(self.differences(each)) for each in measured):
            lines.append(f"{differing} of them were measured with other settings, code or software than the current")
        unknown = sorted({each.launch["experiment"] for each in held} - set(experiments))
        lines += [f"left out: {name}, which the configuration does not list" for name in unknown]
        of_other_tiers = [
            Remark(f"left out: {count} launches of tier {tier}", self.command.but(partial="true", tier=tier))
            for tier, count in others.items()
        ]
        return [*map(Remark, lines), *of_other_tiers, *map(Remark, of_no_tier)]


def _changed(where: str, before: Any, now: Any) -> Iterator[str]:
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in [*before, *(key for key in now if key not in before)]:
            yield from _changed(f"{where}.{key}".lstrip("."), before.get(key, ABSENT), now.get(key, ABSENT))
    elif before != now:
        yield f"{where}: {_short(before)}, now {_short(now)}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
