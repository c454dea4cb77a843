"""The tables of an experiment and of a run, and the plan of the second sweep."""
