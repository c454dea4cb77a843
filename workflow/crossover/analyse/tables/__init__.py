"""The tables of an experiment and of a run, the plan of the refinement, recommended settings, two runs compared."""
