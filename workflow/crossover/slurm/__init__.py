"""Questions to Slurm: the cluster, whether it accepts jobs, what jobs request, why they wait and how they end."""
