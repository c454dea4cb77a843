"""Statistics of a few launches: intervals, tests, steady states, groups, precision. Knows no curves but by arrays."""
