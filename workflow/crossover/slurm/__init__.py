"""Questions to Slurm: the cluster, whether it accepts jobs, what they ask for, why they wait and how they end."""
