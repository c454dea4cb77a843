"""From raw files to curves: rounds, medians, curves, panels of arms, and the target precision of launches."""
