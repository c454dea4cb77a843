"""Processes of a launch: how they start, what they say, how all of them end, and what they would leave."""
