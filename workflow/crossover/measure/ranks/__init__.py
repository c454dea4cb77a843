"""The ranks of a launch: their hosts, their network, and their communication between blocks."""
