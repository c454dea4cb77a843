"""Several runs: two compared, many in order of time."""
