"""Estimates along a curve: crossovers, thresholds, lines, sensitivity, precision, hosts."""
