"""Measures where one way of moving Python messages starts to beat another.

In Python, `load` opens the results of a run; docs/python.md shows its use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from crossover.query.run import Run


def load(results: str | Path = "results") -> Run:
    """The run in a folder of results. Raises CrossoverError for a folder without one."""
    # Every rank and every job of Snakemake imports this package, so it loads nothing.
    from crossover.query.run import Run

    return Run(results)
