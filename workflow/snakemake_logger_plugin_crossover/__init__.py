"""The display of a run while it measures: a logger plugin, which Snakemake finds by the name of this package.

It imports nothing of `crossover`: Snakemake loads it before the Snakefile chooses the checkout whose code runs.
"""

from snakemake_logger_plugin_crossover.handler import LogHandler, Run, begin, end, say

__all__ = ["LogHandler", "Run", "begin", "end", "say"]
