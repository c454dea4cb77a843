"""Questions to Slurm: its configuration and partitions, whether it accepts jobs, jobs left by earlier runs."""
