"""The tables of an experiment and of a run, recommended settings, two runs compared."""
