"""The user's Snakemake command, as text: the same command with other --config values, or forcing some receipts."""

import re
import shlex
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

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


RECEIPT = re.compile(
    r"(?![-~])(?!.*\.\./)(?P<results>[\w.,/ +=~-]+)/launches/(?P<tier>\w+)/\w+/\w+/\d+-[0-9a-f]{8}\.\d+\.json"
)
"""Paths of receipts; a table from elsewhere can hold anything in their place."""


def require_values(words: Sequence[str]) -> None:
    """Exit with a message if a target follows --config, which takes all words up to the next option."""
    for option, word in _with_option(words):
        if option in CONFIG and word != option and "=" not in word:
            sys.exit(f"--config takes key=value, not {word!r}; if that is a target, put -- before it: -- {word}")
