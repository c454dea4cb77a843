"""The tables of an experiment and of a run, and the second sweep that they ask for."""
