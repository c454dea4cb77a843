"""Processes of a launch: their start, their output, their end, and the files that they would leave behind."""
