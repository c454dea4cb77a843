"""What Slurm's plugin cannot be told otherwise about the jobs of this run."""

import importlib
import os


def outwait_controller() -> None:
    """Make Slurm's plugin keep using `squeue`, if so configured, while Slurm's controller does not answer.

    Before each query, the plugin asks the controller how long it remembers ended jobs. Without an answer, it uses
    `sacct`, which without accounting reports nothing. Then the plugin (2.8) loses its jobs and waits for ever. So its
    first answer is reused.
    """
    plugin = importlib.import_module("snakemake_executor_plugin_slurm")
    seconds = plugin.get_min_job_age()
    if seconds is not None:
        plugin.get_min_job_age = lambda: seconds  # type: ignore[attr-defined]


def request_whole_memory() -> None:
    """Make `sbatch` request the whole memory of each node for jobs that request none, instead of Slurm's default.

    The plugin takes `mem_mb: 0` for no request, and refuses `--mem` among a job's own options.
    """
    os.environ.setdefault("SBATCH_MEM_PER_NODE", "0")
