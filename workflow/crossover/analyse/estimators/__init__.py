"""Estimates along a curve: crossovers, thresholds, lines, sensitivity, precision, groups."""
