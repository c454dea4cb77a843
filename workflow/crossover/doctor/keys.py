"""Where a key of the site is set."""

from __future__ import annotations

FILES = {
    "slurm": "set `{key}` in profiles/slurm/site.yaml",
    "local": "set `{key}` under set-resources, for the rules measure and examine, in profiles/local/config.yaml",
}
ELSEWHERE = "set what your profile has for `{key}`, for the rules measure and examine"


def where(executor: str, key: str) -> str:
    """The file and key to set, for a run by one of Snakemake's executors."""
    return FILES.get(executor, ELSEWHERE).format(key=key)
