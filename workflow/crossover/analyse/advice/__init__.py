"""Recommended settings, with the rule, the aims and the effects of each."""
