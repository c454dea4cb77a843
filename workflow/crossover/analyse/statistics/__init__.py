"""Statistics of a few launches: intervals, tests, scales. Knows curves as plain arrays only."""
