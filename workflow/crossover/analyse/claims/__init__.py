"""Published claims: their quantities, the numbers of a run, the verdicts."""
