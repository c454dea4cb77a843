"""The tables of an experiment and of a run, the plan of the second sweep, recommended settings, two runs compared."""
