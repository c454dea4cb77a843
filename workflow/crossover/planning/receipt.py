"""Receipts: a small JSON file for each launch that ended, which names its raw file. Raw files are only ever added.

A receipt is what Snakemake knows of a launch, and the only file of it that Snakemake deletes or replaces. Its name has
the digest of the launch's settings, so a launch with other settings is another file, and changing them back finds
the first. It also has a *turn*: a launch that must be measured again, with the same settings, is a further file.
"""

import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from crossover.design.settings import Settings, canonical, read_settings
from crossover.errors import CrossoverError
from crossover.planning.plan import Config, LaunchName
from crossover.records import atomic, json_text

FOLDER = "{results}/launches/{tier}"
PATH = FOLDER + "/{experiment}/{placement}/{launch}-{digest}.{turn}.json"
LOG = "{results}/logs/{tier}/{experiment}/{placement}/{launch}-{digest}.{turn}.log"
"""The log of a launch."""

NAME = re.compile(r"(?P<launch>\d+)-(?P<digest>[0-9a-f]{8})\.(?P<turn>\d+)")
"""The name of a receipt without its ending."""

RAW = re.compile(rf"launch={NAME.pattern}\.(?P<stamp>\d+)")
"""The name of a raw file without its ending; `stamp` is the time of its end, so that no two have the same name."""


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
    wall_seconds: json_text.Seconds = 0.0
    software: Mapping[json_text.Text, json_text.Text] = field(default_factory=dict)
    """Versions by name."""
    written: json_text.Seconds = 0.0
    """When it was written, in seconds since 1970."""


@dataclass(frozen=True)
class Of:
    """The name of a receipt."""

    path: Path
    launch: LaunchName
    digest: str
    turn: int


@dataclass(frozen=True)
class Receipt(Facts, Of):
    """How a launch ended."""

    @property
    def raw_file(self) -> Path:
        """The path of the raw file; that of the receipt moves with the folder of results."""
        return self.path.parents[4] / self.raw

    @property
    def complete(self) -> bool:
        """Whether the raw file is there, with all its bytes."""
        try:
            return bool(self.raw) and self.raw_file.stat().st_size == self.bytes
        except OSError:
            return False

    @property
    def measured(self) -> bool:
        """Whether the launch left samples."""
        return self.outcome == "measured"

    @property
    def row(self) -> dict[str, Any]:
        """Its columns of record.LAUNCHES."""
        return {
            **self.launch,
            "outcome": "measured" if self.measured else "hole",
            "hole": self.hole or (None if self.measured else "unknown"),
            "reason": self.reason or (None if self.measured else "unknown"),
            "receipt": str(self.path),
        }


def digest(settings: Settings) -> str:
    """The digest of a launch's settings in the name of its receipt."""
    return sha256(canonical(settings).encode()).hexdigest()[:8]


def path(config: Config, launch: LaunchName, digest: str, turn: int, pattern: str = PATH) -> str:
    """The path of a launch's receipt, or of another file with this `pattern`, such as LOG."""
    return pattern.format(results=config["results"], tier=config["tier"], digest=digest, turn=turn, **launch)


def log(receipt: Path) -> Path:
    """The log of the launch with this receipt."""
    *_, tier, experiment, placement, name = receipt.parts
    return receipt.parents[4] / "logs" / tier / experiment / placement / f"{Path(name).stem}.log"


def description(receipt: Path) -> Path:
    """The file that describes the launch with this receipt, for its processes."""
    return log(receipt).with_suffix(".json")


def launch_of(path: Path) -> LaunchName:
    """The launch that the path of its receipt or of its raw file names."""
    experiment, placement, file = path.parts[-3:]
    return {"experiment": experiment, "placement": placement, "launch": int((re.findall(r"\d+", file) or [0])[0])}


def read(file: Path) -> Receipt:
    """A receipt; `unreadable`, without facts, if its content is no receipt's. Raises CrossoverError for its name."""
    named = NAME.fullmatch(file.stem)
    if not named:
        raise CrossoverError(f"{file}: is no receipt of a launch; move it elsewhere")
    facts = Facts("unreadable")
    with suppress(OSError, ValueError):
        content: Facts = json_text.read(file.read_bytes(), Facts)
        raw = Path(content.raw)
        # A raw file of another launch, or outside of the folder, is none of its own.
        if raw.parent == raw_folder(file).relative_to(file.parents[4]) and raw.name.startswith(f"launch={file.stem}."):
            facts = content
    which = launch_of(file), named["digest"], int(named["turn"])
    return Receipt(file, *which, **vars(facts))


def write(receipt: Path, raw: Path, facts: Mapping[str, Any], ranks: Sequence[Mapping[str, Any]]) -> None:
    """Write the receipt of a whole raw file, from the facts and the ranks in its metadata."""
    told = {name: facts.get(name) for name in ("outcome", "hole", "reason", "code", "wall_seconds")}
    own = {
        "raw": str(raw.relative_to(receipt.parents[4])),
        "bytes": raw.stat().st_size,
        "software": software(ranks),
        "written": time.time(),
    }
    kept = {name: value for name, value in (told | own).items() if value not in (None, {})}
    with atomic.replacing(receipt) as part:
        part.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def software(ranks: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The versions by name that rank 0 recorded; none for a hole."""
    if not ranks:
        return {}
    libraries: dict[str, str] = json.loads(ranks[0].get("libraries") or "{}")
    return libraries | ({"python": ranks[0]["python"]} if ranks[0].get("python") else {})


def contradiction(held: Receipt, facts: Mapping[str, Any]) -> str:
    """How the facts in the metadata of a raw file contradict the receipt that names it; empty if they do not."""
    if any(facts.get(name) != value for name, value in held.launch.items()):
        named = " ".join(str(facts.get(name)) for name in held.launch)
        return f"is of launch {named}, and not of that of its receipt"
    settings = read_settings(facts.get("settings"))
    if digest(settings) != held.digest or settings.get("placement") != held.launch["placement"]:
        return "has other settings than those in the name of its receipt"
    return ""


def next_raw(receipt: Path) -> Path:
    """A new name for the raw file of a launch that ends now."""
    return raw_folder(receipt) / f"launch={receipt.stem}.{time.time_ns()}.parquet"


def raw_files(receipt: Path) -> list[Path]:
    """The raw files that were written for this receipt, the newest first."""
    return sorted(raw_folder(receipt).glob(f"launch={receipt.stem}.*.parquet"), key=stamp, reverse=True)


def raw_folder(receipt: Path) -> Path:
    """The folder of the launch's raw files."""
    return receipt.parents[4].joinpath("raw", *receipt.parts[-4:-1])


def stamp(raw: Path) -> int:
    """The time in a raw file's name, in nanoseconds since 1970; 0 for another name."""
    named = RAW.fullmatch(raw.stem)
    return int(named["stamp"]) if named else 0


def tiers(launches: Iterable[Mapping[str, Any]]) -> list[str]:
    """The tiers of launches, rows of the table, by the folder of their receipts."""
    found = (re.search(r"launches/([^/]+)/", str(row["receipt"])) for row in launches)
    return sorted({place[1] for place in found if place})
