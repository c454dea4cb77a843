"""Checks of a run's folders before anything is measured: results, temporary files, home."""

import getpass
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from crossover.config import yaml_file
from crossover.errors import CrossoverError, plain
from crossover.planning import command

SOCKET_BYTES = 107
"""The longest path of a socket on Linux."""
WRITTEN_BYTES = 1 << 16
"""The size of a test write."""
BELOW_BYTES = len("/crossover-12345678/kernel-ipc-4")
"""The longest path of a socket in the temporary folder: that of the page's preview."""

OWN = ".snakemake"
"""Snakemake's own folder, in the working folder."""

CACHE = f"{OWN}/cache"
"""The cache of Snakemake and other programs where the home cannot be written to."""


@plain()
def of_results(words: Sequence[str]) -> str:
    """The folder of results of the command with these words, or the configured one; for profiles."""
    given = [value for value in command.read(words).values if value.startswith("results=")]
    if given:
        return given[-1].removeprefix("results=")
    file = Path("config/config.yaml")
    configured = yaml_file.read_yaml(file) if file.exists() else None
    return str(configured.get("results", "results")) if isinstance(configured, dict) else "results"


def require(results: str | Path) -> None:
    """Raise CrossoverError if `results` cannot be a folder, or if the temporary folder's path is too long."""
    if not str(results).isprintable():
        raise CrossoverError(
            f"results: {str(results)!r} is not printable; choose a name without line breaks and the like"
        )
    for place in (Path(results), *Path(results).parents):
        if place.exists() and not place.is_dir():
            raise CrossoverError(
                f"{place}: is a file, and the results need a folder of this name; move it away, or choose another "
                "folder with --config results=..."
            )
    temporary = tempfile.gettempdir()
    length, most = len(os.fsencode(temporary)), SOCKET_BYTES - BELOW_BYTES
    if length > most:
        raise CrossoverError(
            f"TMPDIR: {temporary} has {length} bytes, but sockets in it allow at most {most}; set TMPDIR to a folder "
            "with a shorter path, such as /tmp"
        )


def require_own() -> None:
    """Raise CrossoverError if Snakemake's own folder cannot be written to; it would go on with pages of messages."""
    if reason := _fault(Path(OWN)):
        raise CrossoverError(
            f"{OWN}: cannot be written to ({reason}); free some space there or make it writable, "
            "then repeat the command"
        )


def spare_home() -> None:
    """Let programs keep their cache in the working folder if the home's cannot be written to, and name the user.

    Snakemake makes its cache before it reads the Snakefile, so profiles call this. It also asks for the user's name,
    which a user of a container may not have.
    """
    try:
        getpass.getuser()
    except (KeyError, OSError):
        os.environ["USER"] = str(os.getuid())
    try:
        fault = _fault(Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser())
    except RuntimeError as error:
        # The user has no home at all.
        fault = str(error)
    if fault:
        os.environ["XDG_CACHE_HOME"] = str(Path(CACHE).absolute())


def _fault(folder: Path) -> str:
    """Why nothing can be written to a folder, which is made if needed; empty if it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # A test write, because permissions show neither a quota nor a file system that is mounted read-only.
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(os.urandom(WRITTEN_BYTES))
            probe.flush()
    except OSError as error:
        return error.strerror or str(error)
    return ""
