"""The user's Snakemake command, as text: the same command with other --config values, or forcing some receipts."""

import re
import shlex
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LEFT_OUT = re.compile(r"-[nFf]+|--(force|forceall|dry-?run)")
"""Options that a repeated command leaves out."""

FORCED = ("-R", "--forcerun", "--force-run")
"""The same, with the words that follow."""

CONFIG = ("-C", "--config")


@dataclass(frozen=True)
class Command:
    """A Snakemake command."""

    options: tuple[str, ...] = ()
    """All words but those of the other fields, and but those that force, such as `--profile slurm --cores 4`."""
    values: tuple[str, ...] = ()
    """Values of --config, such as `tier=standard`."""
    targets: tuple[str, ...] = ()

    def but(self, **values: str) -> str:
        """The text of this command with these `--config` values instead of its own."""
        kept = [value for value in self.values if value.partition("=")[0] not in values]
        return self._text([], [*kept, *(f"{key}={value}" for key, value in values.items())])

    def forcing(self, files: Sequence[str], between: str = " ") -> str:
        """The text of this command, measuring, and forcing only these files; `between` separates them."""
        values = [value for value in self.values if value.partition("=")[0] != "partial"]
        return self._text(["-R", *files], values, between)

    def _text(self, forced: Sequence[str], values: Sequence[str], between: str = " ") -> str:
        # Options such as -R take all words up to the next option.
        ends = [*(["--config", *values] if values else []), *(["--", *self.targets] if self.targets else [])]
        files = between.join(map(shlex.quote, forced[1:]))
        words = ["snakemake", *self.options, *forced[:1]]
        return " ".join(filter(None, [shlex.join(words), files, shlex.join(ends)]))

    def stored(self) -> dict[str, list[str]]:
        """This command for JSON."""
        return {"options": list(self.options), "values": list(self.values), "targets": list(self.targets)}


def read(words: Sequence[str], targets: Collection[str] = ()) -> Command:
    """The command with these words after `snakemake`; `targets` are those that Snakemake has read in them."""
    options: list[str] = []
    values: list[str] = []
    found: list[str] = []
    for option, word in _with_option(words):
        if option in FORCED:
            continue
        if option in CONFIG:
            values += [word] if word != option else []
        elif option == "--" or (word in targets and word not in found):
            found += [word] if word != option else []
        elif not LEFT_OUT.fullmatch(word):
            # Of flags in one word, such as -nj4, only those that force or measure nothing are left out.
            short = re.fullmatch(r"(-)[nFf]+(\w.*)", word) or re.fullmatch(r"(-k)[nFf]+()", word)
            options.append("".join(short.groups()) if short else word)
    return Command(tuple(options), tuple(values), tuple(found))


def _with_option(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each word, with the last option up to it; behind `--`, that is the last."""
    option = ""
    for word in words:
        if option != "--" and word.startswith("-") and word != "-":
            name, equals, value = word.partition("=")
            if name in (*CONFIG, *FORCED) and equals:
                yield name, value
                option = ""
                continue
            option = word
        yield option, word


def restored(facts: Mapping[str, Any]) -> Command:
    """The command that `stored` gave, after JSON. Earlier versions had the profile apart."""
    profile = ("--profile", facts["profile"]) if facts.get("profile") else ()
    options, values, targets = (tuple(facts[name]) for name in ("options", "values", "targets"))
    return Command((*profile, *options), values, targets)


SHARED: dict[str, Any] = {"shared": True}
"""In place of a command: the page is for others, who have not run it."""

HARMLESS = re.compile(
    r"--profile[ =](profiles/)?\w[\w-]*|(-c|--cores|-j|--jobs|--retries|--latency-wait)([ =]?(\d+|all))?"
    r"|-k|--keep-going|--verbose|--quiet"
)
VALUE = re.compile(r"(results=[\w./-]+|tier=\w+|partial=\w+)")
RECEIPT = re.compile(r"(?!-)[\w.,/ +=~-]*\blaunches/\w+/\w+/\w+/\d+-[0-9a-f]{8}\.\d+\.json")
"""Paths of receipts; a table from elsewhere can hold anything in their place."""


def harmless(facts: Any) -> dict[str, Any] | None:
    """A command from a file, if nothing in it can run code that is not ours; otherwise None.

    Files in a folder of results can come from somebody else, and options such as --snakefile name code to run.
    """
    if not isinstance(facts, Mapping) or not isinstance(facts.get("profile", ""), str):
        return None
    if not all(_is_words(facts.get(name)) for name in ("options", "values", "targets")):
        return None
    found = restored(facts)
    passed = (
        re.fullmatch(rf"(({HARMLESS.pattern})( |$))*", " ".join(found.options))
        and all(map(VALUE.fullmatch, found.values))
        and all(re.fullmatch(r"\w+", target) or RECEIPT.fullmatch(target) for target in found.targets)
    )
    return found.stored() if passed else None


def _is_words(told: Any) -> bool:
    return isinstance(told, list) and all(isinstance(word, str) for word in told)


def require_values(words: Sequence[str]) -> None:
    """Exit with a message if a target follows --config, which takes all words up to the next option."""
    for option, word in _with_option(words):
        if option in CONFIG and word != option and "=" not in word:
            sys.exit(f"--config takes key=value, not {word!r}; if that is a target, put -- before it: -- {word}")
