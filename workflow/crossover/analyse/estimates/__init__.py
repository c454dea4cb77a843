"""Estimates from a few launches: intervals and tests of cells, curves, crossovers, thresholds, choices, bias, hosts."""
