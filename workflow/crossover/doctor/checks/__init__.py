"""The doctor's checks, one file each, found by name.

A file has `judge(seen) -> Finding`, a pure function of the facts; or `look`, which collects facts on both ranks of a
job (`look(pair)`) or where Snakemake runs (`look()`); or both.
"""

import importlib
from types import ModuleType

CHECKS = (
    *("executor", "queue", "launcher", "hosts", "processors", "ports", "clocks", "temporary", "shared"),
    *("compiler", "quarto"),
)
"""The checks with a finding, in the order of the report."""
BETWEEN_RANKS = ("processors", "ports", "clocks", "temporary", "shared")
WHERE_SNAKEMAKE_RUNS = {"compiler": "measure", "quarto": "report", "queue": "measure"}
"""The environment of `envs/` in which each check runs."""


def module(name: str) -> ModuleType:
    """The file of a check."""
    return importlib.import_module(f"crossover.doctor.checks.{name}")
