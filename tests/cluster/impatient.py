"""Snakemake with a look at its jobs every second. Its Slurm plugin lets each wait grow by ten seconds."""

import sys

from snakemake.cli import main
from snakemake_executor_plugin_slurm import Executor

Executor.next_seconds_between_status_checks = property(lambda self: 1, lambda self, seconds: None)

if __name__ == "__main__":
    sys.exit(main())
