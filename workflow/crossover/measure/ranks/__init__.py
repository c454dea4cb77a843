"""The ranks of a launch: their hosts and machines, their network, their communication, output, children and end."""
