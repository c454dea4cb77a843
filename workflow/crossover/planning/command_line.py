"""The user's Snakemake command: the rules and files that it forces, and the same command with other --config values."""

import json
import math
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

OWN = ("profile", "targets", "config", "forceall", "forcerun", "force", "dryrun")
"""Snakemake's names of the parts of a command that have a field of their own, or that a repeated command leaves out."""


@dataclass(frozen=True)
class Command:
    """A Snakemake command."""

    profile: str = ""
    targets: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    """Values of --config, such as `tier=standard`."""
    options: tuple[str, ...] = ()
    """All other options with their values, such as `--cores 4`."""
    everything: bool = False
    """Whether it forces everything that the targets need (-F)."""
    forced: frozenset[str] = frozenset()
    """The rules and files that it forces (-R, and with -f the targets)."""

    def remeasures(self, path: str) -> bool:
        """Whether the command forces this raw file to be remeasured."""
        return self.everything or bool(self.forced & {path, "launch"})

    def but(self, **values: str) -> str:
        """The text of this command without forcing, and with these `--config` values instead of its own."""
        kept = [value for value in self.values if value.partition("=")[0] not in values]
        return self._text([], [*kept, *(f"{key}={value}" for key, value in values.items())])

    def forcing(self, files: Sequence[str], between: str = " ") -> str:
        """The text of this command, measuring, and forcing only these files; `between` separates them."""
        values = [value for value in self.values if value.partition("=")[0] != "partial"]
        return self._text(["-R", *files], values, between)

    def _text(self, forced: Sequence[str], values: Sequence[str], between: str = " ") -> str:
        words = ["snakemake", *(["--profile", self.profile] if self.profile else []), *self.options]
        # Options such as -R take all words up to the next option.
        ends = [*(["--config", *values] if values else []), *(["--", *self.targets] if self.targets else [])]
        files = between.join(map(shlex.quote, forced[1:]))
        return " ".join(filter(None, [shlex.join([*words, *forced[:1]]), files, shlex.join(ends)]))

    def stored(self) -> str:
        """This command as JSON, without what it forces."""
        return json.dumps(
            {"profile": self.profile, "targets": self.targets, "values": self.values, "options": self.options}
        )


def restored(facts: Mapping[str, Any]) -> Command:
    """The command that `stored` wrote, after json.loads."""
    targets, values, options = (tuple(facts[name]) for name in ("targets", "values", "options"))
    return Command(str(facts["profile"]), targets, values, options)


SHARED: dict[str, Any] = {"shared": True}
"""In place of a command: the page is for others, who have not run it."""

HARMLESS = re.compile(
    r"(-c|--cores|-j|--jobs|--retries|--latency-wait)([ =]?(\d+|all))?|-k|--keep-going|--verbose|--quiet"
)
PROFILE = re.compile(r"(profiles/)?[\w-]*")
VALUE = re.compile(r"(results=[\w./-]+|tier=\w+|partial=\w+)")
RAW_FILE = re.compile(r"(?!-)[\w.,/ +=~-]*\braw/\w+/\w+/\w+/launch=\d+\.parquet")
"""Paths of raw files; a table from elsewhere can hold anything in their place."""


def harmless(facts: Any) -> dict[str, Any] | None:
    """A command from a file, if nothing in it can run code that is not ours; otherwise None.

    Files in a folder of results can come from somebody else, and options such as --snakefile name code to run.
    """
    if not isinstance(facts, Mapping) or not isinstance(facts.get("profile"), str):
        return None
    targets, values, options = (_words(facts.get(name)) for name in ("targets", "values", "options"))
    if targets is None or values is None or options is None:
        return None
    words = " ".join(options)
    passed = (
        PROFILE.fullmatch(facts["profile"])
        and all(re.fullmatch(r"\w+", target) or RAW_FILE.fullmatch(target) for target in targets)
        and all(map(VALUE.fullmatch, values))
        and re.fullmatch(rf"(({HARMLESS.pattern})( |$))*", words)
    )
    found = {"profile": facts["profile"], "targets": targets, "values": values, "options": options}
    return found if passed else None


def _words(told: Any) -> list[str] | None:
    """A list of texts; None for anything else."""
    return told if isinstance(told, list) and all(isinstance(word, str) for word in told) else None


@cache
def own() -> Command:
    """The command that started this process, parsed once, because that takes a moment."""
    return read(sys.argv[1:])


def read(words: Sequence[str]) -> Command:
    """Parse a command's words after `snakemake`.

    Snakemake itself reports forced targets and files only after it has read the Snakefile.
    """
    # Imported here, because only Snakemake has this loaded already.
    from snakemake.cli import get_argument_parser, parse_args

    with redirect_stderr(StringIO()):
        _, chosen = parse_args(list(words))
    targets = tuple(map(str, chosen.targets or ()))
    values = chosen.config or ()
    return Command(
        profile=str(chosen.profile[-1]) if chosen.profile else "",
        targets=targets,
        # A profile's values are a mapping, those of the command are texts.
        values=tuple(f"{key}={value}" for key, value in values.items()) if isinstance(values, dict) else tuple(values),
        options=tuple(_others(get_argument_parser(), words)),
        everything=bool(chosen.forceall),
        forced=frozenset(str(Path(name)) for name in [*(chosen.forcerun or ()), *(targets if chosen.force else ())]),
    )


def _others(parser: Any, words: Iterable[str]) -> Iterator[str]:
    """The options of a valid command, with their values, without OWN."""
    known = {name: action for action in parser._actions for name in action.option_strings}
    keeps, most = False, 0.0
    for word in words:
        if word == "--":
            return
        if word.startswith("-") and word != "-":
            for option, action, value in _options(known, word):
                keeps = action.dest not in OWN
                most = 0 if value else {None: 1, "?": 1, 0: 0}.get(action.nargs, math.inf)
                if keeps:
                    yield option + value
        elif most:
            most -= 1
            if keeps:
                yield word


def _options(known: Mapping[str, Any], word: str) -> Iterator[tuple[str, Any, str]]:
    """The options in a word, each with its action and a value in the same word, such as `-n` and `-j4` in `-nj4`."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        full = name if name in known else next((other for other in known if other.startswith(name)), "")
        if full:
            yield name, known[full], equals + value
        return
    name, rest = word[:2], word[2:]
    while name in known:
        flag = known[name].nargs == 0
        yield name, known[name], "" if flag else rest
        if not flag or not rest:
            return
        name, rest = f"-{rest[0]}", rest[1:]


def require_values(words: Sequence[str]) -> None:
    """Exit with a message if a target follows --config, which takes all words up to the next option."""
    option = ""
    for word in words:
        option = word if word.startswith("-") else option
        if option in ("--config", "-C") and word != option and "=" not in word:
            sys.exit(f"--config takes key=value, not {word!r}; if that is a target, put -- before it: -- {word}")
