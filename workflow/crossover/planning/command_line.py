"""The user's Snakemake command: the rules and files that it forces, and the same command with other --config values."""

import shlex
import sys
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path


@dataclass(frozen=True)
class Command:
    """A Snakemake command."""

    profile: str = ""
    targets: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    """Values of --config, such as `tier=standard`."""
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

    def forcing(self, files: Sequence[str]) -> str:
        """The text of this command, measuring, and forcing only these files."""
        return self._text(["-R", *files], [value for value in self.values if value.partition("=")[0] != "partial"])

    def _text(self, options: Sequence[str], values: Sequence[str]) -> str:
        words = ["snakemake", *(["--profile", self.profile] if self.profile else []), *options]
        config = ["--config", *values] if values else []
        # Options such as -R take all words up to the next option.
        return shlex.join([*words, *config, *(["--", *self.targets] if self.targets else [])])


def read(words: Iterable[str] | None = None) -> Command:
    """Parse a command, by default the one that started this process.

    Snakemake itself reports forced targets and files only after it has read the Snakefile.
    """
    # Imported here, because only Snakemake has this loaded already.
    from snakemake.cli import parse_args

    with redirect_stderr(StringIO()):
        _, chosen = parse_args(list(sys.argv[1:] if words is None else words))
    targets = tuple(map(str, chosen.targets or ()))
    values = chosen.config or ()
    return Command(
        profile=str(chosen.profile[-1]) if chosen.profile else "",
        targets=targets,
        # A profile's values are a mapping, those of the command are texts.
        values=tuple(f"{key}={value}" for key, value in values.items()) if isinstance(values, dict) else tuple(values),
        everything=bool(chosen.forceall),
        forced=frozenset(str(Path(name)) for name in [*(chosen.forcerun or ()), *(targets if chosen.force else ())]),
    )


def require_values(words: Sequence[str]) -> None:
    """Exit with a message if a target follows --config, which takes all words up to the next option."""
    option = ""
    for word in words:
        option = word if word.startswith("-") else option
        if option in ("--config", "-C") and word != option and "=" not in word:
            sys.exit(f"--config takes key=value, not {word!r}; if that is a target, put -- before it: -- {word}")
