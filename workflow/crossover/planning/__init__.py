"""From the configuration to launches: the launches of a run, those already measured, the time of the rest."""
