"""From raw files to curves: rounds, medians, the curve of an arm, panels of arms, what launches were asked for."""
