"""Statistics of a few launches: intervals, tests, scales, steady states. Knows curves as plain arrays only."""
