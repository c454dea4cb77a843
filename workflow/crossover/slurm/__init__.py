"""What is asked of Slurm: its configuration and partitions, whether it accepts jobs, jobs that earlier runs left."""
