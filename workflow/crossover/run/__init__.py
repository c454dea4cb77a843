"""One run of the workflow: its session with Snakemake, digests of code, checks of Slurm, failed parts."""
