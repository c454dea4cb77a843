"""Slurm's words when it refuses a job: `bin/sbatch` keeps them in a file, because Snakemake drops them for groups."""

import os
from contextlib import suppress
from pathlib import Path

BIN = Path(__file__).with_name("bin")
VARIABLE = "CROSSOVER_REFUSALS"
"""The environment variable with the file's path."""

WAITS, REFUSED = "waits", "refused"
"""The first column: whether the job is submitted again until Slurm accepts it, or given up."""


def keep(file: Path) -> None:
    """Keep the refusals of this process and its children in `file`, which is emptied."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("", encoding="utf-8")
    os.environ[VARIABLE] = str(file.absolute())
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join([str(BIN), *(each for each in folders if each != str(BIN))])


def read() -> list[tuple[str, str]]:
    """Every refusal so far, the oldest first: WAITS or REFUSED, and Slurm's words."""
    with suppress(OSError, KeyError):
        lines = Path(os.environ[VARIABLE]).read_text(encoding="utf-8", errors="replace").splitlines()
        return [(kind, words) for kind, _, words in (line.partition("\t") for line in lines) if words]
    return []


def last() -> str:
    """The words of the last refusal for good; empty without one."""
    return next((words for kind, words in reversed(read()) if kind == REFUSED), "")
