"""The analysis: from the blocks of many launches to estimates, intervals and crossovers."""
