"""Receipts: a small JSON file for each launch that ended, which names its raw file. Raw files are only ever added.

A receipt is what Snakemake knows of a launch, and the only file of it that Snakemake deletes or replaces. Its name has
the digest of the launch's settings, so a launch with other settings is another file, and changing them back finds
the first. It also has a *turn*: a launch that must be measured again, with the same settings, is a further file.
"""

import json
import os
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from annotated_types import Lt

from crossover.design.launch import Launch
from crossover.design.settings import digest, read_settings
from crossover.errors import CrossoverError
from crossover.records import atomic, json_text, rows

FOLDER = "{results}/launches/{tier}"
PATH = FOLDER + "/{experiment}/{placement}/{launch}-{digest}.{turn}.json"
LOG = "{results}/logs/{tier}/{experiment}/{placement}/{launch}-{digest}.{turn}.log"
"""The log of a launch."""

NAME = re.compile(r"(?P<launch>\d+)-(?P<digest>[0-9a-f]{8})\.(?P<turn>\d+)")
"""The name of a receipt without its ending."""

VARIABLES = "variables"
"""Among the versions of software of a launch: the environment variables that can change its results, as JSON."""

ANYWHERE = re.compile(
    r"(?![-~])(?!.*\.\./)(?P<results>[\w.,/ +=~-]+)/launches/(?P<tier>\w+)/\w+/\w+/\d+-[0-9a-f]{8}\.\d+\.json"
)
"""Paths of receipts; a table from elsewhere can hold anything in their place."""

RAW = re.compile(rf"launch={NAME.pattern}\.(?P<stamp>\d+)")
"""The name of a raw file without its ending; `stamp` is the time of its end, so that no two have the same name."""


RUN = "CROSSOVER_RUN"
"""The environment variable with the identity of a run, which its jobs inherit. Clocks can jump, so no time tells runs
apart."""


@dataclass(frozen=True)
class Facts:
    """The content of a receipt."""

    outcome: Literal["measured", "hole", "unreadable"]
    """As in record.LAUNCHES; `unreadable` for a receipt that cannot be read."""
    raw: json_text.Text = ""
    """The raw file, relative to the folder of results."""
    bytes: json_text.Whole = 0
    """The size of the raw file."""
    hole: json_text.Text | None = None
    reason: json_text.Text | None = None
    code: json_text.Text = ""
    """The digest of the measuring code."""
    wall_seconds: Annotated[json_text.Seconds, Lt(1e7)] = 0.0
    """No job lasts months, so a larger number is damage."""
    software: Mapping[json_text.Text, json_text.Text] = field(default_factory=dict)
    """Versions by name."""
    written: json_text.Seconds = 0.0
    """When it was written, in seconds since 1970."""
    run: json_text.Text = ""
    """The identity of the run that wrote it."""


@dataclass(frozen=True)
class Files:
    """The files of a launch, by the path of its receipt. Raises CrossoverError for a path of another kind."""

    path: Path

    def __post_init__(self) -> None:
        if not self._named:
            raise CrossoverError(f"{self.path}: is no receipt of a launch; move it elsewhere")

    @classmethod
    def of(cls, results: str, tier: str, launch: Launch, turn: int) -> Self:
        """Those of a launch that is measured for the time `turn`, counted from 0."""
        own = {"digest": launch.settings.digest, "turn": turn, **launch.identity}
        return cls(Path(PATH.format(results=results, tier=tier, **own)))

    @cached_property
    def _named(self) -> re.Match[str] | None:
        return NAME.fullmatch(self.path.stem)

    def _part(self, name: str) -> str:
        assert self._named
        return self._named[name]

    @property
    def name(self) -> tuple[str, str, int]:
        """What identifies the launch: experiment, placement, number."""
        return self.path.parts[-3], self.path.parts[-2], int(self._part("launch"))

    @property
    def identity(self) -> dict[str, Any]:
        """The columns of every table that name the launch."""
        return dict(zip(("experiment", "placement", "launch"), self.name, strict=True))

    @property
    def digest(self) -> str:
        """The digest of the launch's settings."""
        return self._part("digest")

    @property
    def turn(self) -> int:
        """How often the launch was to be measured before, with these settings."""
        return int(self._part("turn"))

    @property
    def results(self) -> Path:
        return self.path.parents[4]

    @property
    def log(self) -> Path:
        *_, tier, experiment, placement, _ = self.path.parts
        return self.results / "logs" / tier / experiment / placement / f"{self.path.stem}.log"

    @property
    def description(self) -> Path:
        """The file that describes the launch, for its processes."""
        return self.log.with_suffix(".json")

    @property
    def raw_folder(self) -> Path:
        """The folder of the launch's raw files."""
        return self.results.joinpath("raw", *self.path.parts[-4:-1])

    def next_raw(self) -> Path:
        """A new name for the raw file of the launch, which ends now."""
        return self.raw_folder / f"launch={self.path.stem}.{time.time_ns()}.parquet"

    def raw_files(self) -> list[Path]:
        """The raw files that were written for this receipt, the newest first."""
        return sorted(self.raw_folder.glob(f"launch={self.path.stem}.*.parquet"), key=stamp, reverse=True)


@dataclass(frozen=True)
class Receipt(Facts, Files):
    """How a launch ended."""

    @property
    def raw_file(self) -> Path:
        """The path of the raw file; that of the receipt moves with the folder of results."""
        return self.results / self.raw

    @property
    def complete(self) -> bool:
        """Whether the raw file is there, with all its bytes."""
        try:
            return bool(self.raw) and self.raw_file.stat().st_size == self.bytes
        except OSError:
            return False

    @property
    def of_this_run(self) -> bool:
        """Whether a job of this run wrote it."""
        return is_this(self.run)

    @property
    def measured(self) -> bool:
        """Whether the launch left samples."""
        return self.outcome == "measured"

    @property
    def row(self) -> rows.Launch:
        """Its row of the table of launches, as far as it knows."""
        columns = {
            **self.identity,
            "outcome": "measured" if self.measured else "hole",
            "hole": self.hole or (None if self.measured else "unknown"),
            "reason": self.reason or (None if self.measured else "unknown"),
            "receipt": str(self.path),
        }
        return rows.Launch.of(columns)


def is_this(run: object) -> bool:
    """Whether this is the identity of the run that this process belongs to."""
    return bool(run) and run == os.environ.get(RUN)


def first_line() -> str:
    """The first line of this run's logs."""
    return f"run {os.environ.get(RUN, '')}"


def is_begun(log: Path) -> bool:
    """Whether the supervisor with this log began in this run."""
    with suppress(OSError), log.open(encoding="utf-8", errors="replace") as lines:
        return is_this(lines.readline().strip().removeprefix("run "))
    return False


def read(file: Path) -> Receipt:
    """A receipt; `unreadable`, without facts, if its content is no receipt's. Raises CrossoverError for its name."""
    files, facts = Files(file), Facts("unreadable")
    with suppress(OSError, ValueError):
        content: Facts = json_text.read(atomic.regular(file).read_bytes(), Facts)
        raw = Path(content.raw)
        # A raw file of another launch, or outside of the folder, is none of its own.
        if raw.parent == files.raw_folder.relative_to(files.results) and raw.name.startswith(f"launch={file.stem}."):
            facts = content
    return Receipt(file, **vars(facts))


def write(files: Files, raw: Path, facts: Mapping[str, Any], ranks: Sequence[Mapping[str, Any]]) -> None:
    """Write the receipt of a whole raw file, from the facts and the ranks in its metadata."""
    told = {name: facts.get(name) for name in ("outcome", "hole", "reason", "code", "wall_seconds")}
    own = {
        "raw": str(raw.relative_to(files.results)),
        "bytes": raw.stat().st_size,
        "software": software(ranks),
        "written": time.time(),
        "run": os.environ.get(RUN),
    }
    kept = {name: value for name, value in (told | own).items() if value not in (None, {})}
    with atomic.replacing(files.path) as part:
        part.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def software(ranks: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The versions by name that rank 0 recorded, and its variables as JSON; none for a hole."""
    if not ranks:
        return {}
    first = rows.Rank.of(ranks[0])
    known = {"python": first.python, VARIABLES: json.dumps(first.variables) if first.variables is not None else ""}
    return {**(first.libraries or {})} | {name: text for name, text in known.items() if text}


def contradiction(held: Files, facts: Mapping[str, Any]) -> str:
    """How the facts in the metadata of a raw file contradict the receipt that names it; empty if they do not."""
    if any(facts.get(name) != value for name, value in held.identity.items()):
        named = " ".join(str(facts.get(name)) for name in held.identity)
        return f"is of launch {named}, and not of that of its receipt"
    stored = read_settings(facts.get("settings"))
    if digest(stored) != held.digest or stored.get("placement") != held.name[1]:
        return "has other settings than those in the name of its receipt"
    return ""


def stamp(raw: Path) -> int:
    """The time in a raw file's name, in nanoseconds since 1970; 0 for another name."""
    named = RAW.fullmatch(raw.stem)
    return int(named["stamp"]) if named else 0


def launch_number(raw: Path) -> int:
    """The number of the launch in a raw file's name; 0 for another name."""
    named = RAW.fullmatch(raw.stem)
    return int(named["launch"]) if named else 0


def tiers(launches: Iterable[rows.Launch]) -> list[str]:
    """The tiers of launches, rows of the table, by the folder of their receipts."""
    found = (re.search(r"launches/([^/]+)/", row.receipt) for row in launches)
    return sorted({place[1] for place in found if place})


# ---- the receipts in a folder of results

Held = Mapping[tuple[str, str, int], Sequence[Receipt]]
"""The receipts of each launch, by `Launch.name`, in the order in which they were written."""


def held(results: str, tier: str) -> Held:
    """The receipts of a tier."""
    found: dict[tuple[str, str, int], list[Receipt]] = defaultdict(list)
    for file in sorted(Path(FOLDER.format(results=results, tier=tier)).glob("*/*/[0-9]*.json")):
        own = read(file)
        found[own.name].append(own)
    return {name: sorted(own, key=lambda one: one.written) for name, own in sorted(found.items())}


def latest(receipts: Sequence[Receipt]) -> Receipt | None:
    """The receipt to report on, of those of a launch: the last measured one, or the last hole."""
    own = [each for each in receipts if each.complete]
    return max(own, key=lambda each: (each.measured, each.written), default=None)


def stored_settings(of: Receipt) -> dict[str, Any]:
    """The settings with which a launch was measured; none if its raw file cannot be read."""
    # Imported only if there is a file to read, because it loads slowly.
    from crossover.records import record

    with suppress(*record.DAMAGE):
        stored = record.stored(of.raw_file)
        facts = json_text.parse(stored.get(b"launch", b""), dict)
        if stored.get(b"crossover") == str(record.VERSION).encode() and not contradiction(of, facts):
            return read_settings(facts["settings"])
    return {}


def other_tiers(results: str, tier: str, tiers: Iterable[str]) -> dict[str, int]:
    """The number of measured launches here of each other tier."""
    counts = {}
    for name in tiers:
        files = [] if name == tier else Path(results, "raw", name).glob("*/*/launch=*.parquet")
        counts[name] = len({(*raw.parts[-3:-1], launch_number(raw)) for raw in files})
    return {name: count for name, count in counts.items() if count}
