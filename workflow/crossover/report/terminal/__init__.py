"""The answer of a run in the terminal: what to set, who wins where, what is open."""
