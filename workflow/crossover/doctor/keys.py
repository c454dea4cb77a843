"""The file in which a key of the site is set."""

from __future__ import annotations

PLACES = {
    "slurm": "in profiles/slurm/site.yaml",
    "local": "in profiles/local/config.yaml, under set-resources, for the rules launch and examine,",
}
ELSEWHERE = "in the site.yaml of your profile"


def line(executor: str, key: str, value: str = "") -> str:
    """The key to set and its file, for one of Snakemake's executors.

    >>> line("slurm", "mpi", "srun --mpi=pmix")
    'in profiles/slurm/site.yaml set `mpi: srun --mpi=pmix`'
    """
    return f"{PLACES.get(executor, ELSEWHERE)} set `{key}{': ' if value else ''}{value}`"
