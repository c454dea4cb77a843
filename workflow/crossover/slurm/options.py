"""The options of `sbatch` that jobs of launches have, from the keys `exclusive` and `sbatch_options` of a site."""

import importlib
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

ALWAYS = "--overcommit"
"""Lets a job have more ranks than processors."""

EXCLUSIVE = "--exclusive"
"""Two launches side by side would measure each other. Such a job has all processors of its nodes."""

OWN_KEYS = {
    "account": "account",
    "partition": "partition",
    "node constraints": "constraint",
    "quality of service": "qos",
}
"""What the plugin calls the options that have a key of their own."""

RESOURCES = {
    "generic resources (GRES)": "export SBATCH_GRES=... before the run instead; for GPUs, write --gpus-per-node=1",
    "GPU allocation": "write --gpus-per-node=1 instead",
    "memory": "export SBATCH_MEM_PER_NODE=16G, or the like, before the run instead",
}
"""What to do instead of other options of the plugin."""

NOT_A_JOB = {
    r"(--array|-a)\b": "in a job array every task would run the first launch",
    r"--(test-only|wrap)\b": "the job would not run a launch",
    r"(--wait\b|-W\b)": "jobs would be submitted one after another",
}
"""Options with which jobs would not run as planned, with the reason."""


def extra(facts: Mapping[str, Any]) -> str:
    """The options for a site with these `facts`.

    >>> extra({}), extra({"exclusive": False, "sbatch_options": "--reservation=tests"})
    ('--exclusive --overcommit', '--overcommit --reservation=tests')
    """
    own = [EXCLUSIVE] if facts.get("exclusive", True) else []
    # Slurm's plugin passes them through a shell, which must see the same words as `acceptance`.
    return shlex.join([*own, ALWAYS, *shlex.split(facts.get("sbatch_options", ""))])


def fault(text: str) -> str:
    """Why these `sbatch_options` cannot be used, and the next step; empty if they can.

    >>> fault("--partition=short")
    '--partition=short sets the partition; set the key `partition` instead'
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        return f"cannot be split into words ({error}); close its quotes"
    if not words or not words[0].startswith("-"):
        return f"{text!r} is no option of sbatch; write options such as --reservation=tests"
    joined = shlex.join(words)
    for pattern, why in NOT_A_JOB.items():
        if found := re.search(rf"(?<!\S){pattern}\S*", joined):
            return f"with {found[0]} {why}; remove it"
    for pattern, name in _of_plugin().items():
        if found := re.search(pattern, joined):
            return f"{_word(joined, found.start())} sets the {name}; {_instead(name)}"
    return ""


def _of_plugin() -> dict[str, str]:
    """The patterns of the options that Slurm's plugin sets itself and refuses, with its names for them."""
    with suppress(ImportError):
        found: dict[str, str] = importlib.import_module(
            "snakemake_executor_plugin_slurm.validation"
        ).get_forbidden_slurm_options()
        return found
    return {}


def _word(text: str, place: int) -> str:
    """The word around this place of a text."""
    return text[text.rfind(" ", 0, place) + 1 :].split()[0]


def _instead(name: str) -> str:
    if name in OWN_KEYS:
        return f"set the key `{OWN_KEYS[name]}` instead"
    return RESOURCES.get(name, "remove it, because each launch sets its own")
