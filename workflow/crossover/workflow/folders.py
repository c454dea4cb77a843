"""Checks of a run's folders before anything is measured: results, temporary files, home."""

import atexit
import errno
import fcntl
import getpass
import os
import socket
import stat
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from crossover.config import schema, yaml_file
from crossover.design.settings import TIERS
from crossover.errors import CrossoverError, plain
from crossover.planning import receipt

WRITTEN_BYTES = 1 << 16
"""The size of a test write."""

OWN = ".snakemake"
"""Snakemake's own folder, in the working folder."""

CACHE = f"{OWN}/cache"
"""The cache of Snakemake and other programs where the home cannot be written to."""


@plain()
def of_results(words: Sequence[str]) -> str:
    """The folder of results of the command with these words, or the configured one; for profiles."""
    file = Path("config/config.yaml")
    configured = yaml_file.read_yaml(file) if file.exists() else None
    given = dict(word.split("=", 1) for word in words if word.startswith(("results=", "tier=")))
    return schema.folder((configured if isinstance(configured, dict) else {}) | given)


TAKEN = (
    *(".ci", ".git", ".snakemake", ".venv", "benchmarks", "config", "docs", "envs", "profiles", "reports", "slurm"),
    *("tests", "workflow"),
)
"""The project's own folders, in which a run must not keep its results."""


def require(results: str | Path) -> None:
    """Raise CrossoverError if `results` cannot be a folder."""
    if not str(results).isprintable():
        raise CrossoverError(
            f"results: {str(results)!r} is not printable; choose a name without line breaks and the like"
        )
    whole, here = Path(results).resolve(), Path.cwd()
    if here.is_relative_to(whole) or any(whole.is_relative_to(here / name) for name in TAKEN):
        raise CrossoverError(
            f"results: {str(results)!r} is a folder of the project, or contains it; choose another, such as results"
        )
    for place in (Path(results), *Path(results).parents):
        if place.exists() and not place.is_dir():
            raise CrossoverError(
                f"{place}: is a file, and the results need a folder of this name; move it away, or choose another "
                "folder with --config results=..."
            )


def require_own() -> None:
    """Raise CrossoverError if Snakemake's own folder cannot be written to; it would go on with pages of messages."""
    for place in (Path(OWN), *filter(Path.is_dir, Path(OWN).glob("*"))):
        if (reason := _fault(place)) == os.strerror(errno.EACCES):
            raise CrossoverError(_of_another(place))
        if reason:
            raise CrossoverError(
                f"{place}: cannot be written to ({reason}); free some space there or make it writable, "
                "then repeat the command"
            )


def share(folder: str | Path) -> None:
    """Let this process and its children make no file that everybody can write to, but all files for the group if
    `folder`, or what it will be in, is a group's: with its setgid bit, and writable by the group.
    """
    place = Path(folder).absolute()
    mode = next(each for each in (place, *place.parents) if os.access(each, os.F_OK)).stat().st_mode
    mask = os.umask(0o077)
    os.umask((mask & ~stat.S_IRWXG if mode & stat.S_ISGID and mode & stat.S_IWGRP else mask) | stat.S_IWOTH)


def _of_another(place: Path) -> str:
    try:
        owner = place.owner()
    except (KeyError, OSError):
        owner = "another user"
    return (
        f"{place}: cannot be written to, because it belongs to {owner}, and its group must not write; ask {owner} to "
        "share the folder with the group: chmod -R g+rwX . && find . -type d -exec chmod g+s {} +"
    )


def _fault_inside(results: Path) -> str:
    """Why a run must not write in `results`, such as a link, whose target can be any file of the user; empty if it may.

    Files other than logs are replaced, not written to.
    """
    for folder, below, names in os.walk(results):
        for place in (Path(folder, name) for name in (*below, *names)):
            if place.is_symlink():
                return f"{place}: is a link, and a run writes to its own files only; put a copy in its place"
        for place in (Path(folder), *(Path(folder, name) for name in names if name.endswith(".log"))):
            if not os.access(place, os.W_OK):
                return _of_another(place)
    return ""


def spare_home() -> None:
    """Let programs keep their cache in the working folder if the home's cannot be written to, and name the user.

    Snakemake makes its cache and its folder before it reads the Snakefile, so profiles call this. It also asks for
    the user's name, which a user of a container may not have.
    """
    share(".")
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


RENEWAL_SECONDS = 5
"""The time between two renewals."""

STALE_SECONDS = 60
"""The age after which a claim of another host has no holder; a shared file system may show times late."""


def claim(results: str | Path) -> None:
    """Claim `results` until this process ends.

    Raises CrossoverError if another run holds the claim, or held it on another host until a moment ago and was killed.
    """
    Path(results).mkdir(parents=True, exist_ok=True)
    file = Path(results) / ".claim"
    if fault := _fault_inside(Path(results)):
        raise CrossoverError(fault)
    try:
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o664)
    except PermissionError:
        raise CrossoverError(_of_another(file)) from None
    except OSError as error:
        raise CrossoverError(f"{file}: cannot be opened ({error.strerror}); remove it, then repeat") from None
    locked, kind = _lock(handle), os.fstat(handle)
    if locked is not False and (kind.st_nlink > 1 or not stat.S_ISREG(kind.st_mode)):
        # It is also a file of somebody else, under another name.
        os.close(handle)
        file.unlink()
        return claim(results)
    holder = os.read(handle, 256).decode(errors="replace").strip()
    elsewhere = " on " in holder and not holder.endswith(f" on {socket.gethostname()}")
    age = _age_seconds(file)
    if locked is False or (holder and age < STALE_SECONDS and (elsewhere or locked is None)):
        os.close(handle)
        killed = f"; if it was killed, this folder is free {STALE_SECONDS - age:.0f} s from now" if locked else ""
        raise CrossoverError(
            f"another run ({holder}) works in {results}; wait for it, end it, or choose another folder with "
            f"--config results=...{killed}"
        )
    os.truncate(handle, 0)
    os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
    ended = threading.Event()
    threading.Thread(target=_renew, args=(handle, ended), daemon=True).start()
    atexit.register(_release, handle, ended, os.getpid())


def _lock(handle: int) -> bool | None:
    """Whether this process has the lock; None if the file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _age_seconds(file: Path) -> float:
    """The seconds since the file's last renewal, by the clock of its file system."""
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=".claim-") as now:
        return os.fstat(now.fileno()).st_mtime - file.stat().st_mtime


def _renew(handle: int, ended: threading.Event) -> None:
    while not ended.wait(RENEWAL_SECONDS):
        with suppress(OSError):
            os.utime(handle)


def _release(handle: int, ended: threading.Event, process: int) -> None:
    # A child process inherits the handlers of exit, but not the claim.
    if os.getpid() == process:
        ended.set()
        with suppress(OSError):
            os.truncate(handle, 0)


def require_no_higher_tier(results: str, tier: str) -> None:
    """Raise CrossoverError if the tables there are of a higher tier, whose answers a run of `tier` would hide."""
    # Imported here, because every Snakemake process loads this module.
    from crossover.records import record
    from crossover.records.rows import Launch

    tables = Path(results, "launches.parquet")
    rows: list[Launch] = []
    # The analysis replaces tables that cannot be read.
    with suppress(OSError, CrossoverError):
        rows = record.rows_of(tables, Launch) if tables.exists() else []
    if hidden := [each for each in receipt.tiers(rows) if each in TIERS[TIERS.index(tier) + 1 :]]:
        raise CrossoverError(
            f"{results}: has the answers of tier {hidden[0]}, which this run at tier {tier} would hide; give it a "
            f"folder of its own: --config results=results-{tier}"
        )
