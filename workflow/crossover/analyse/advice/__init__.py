"""Recommended settings: which, by which rule, for which aim, with which effects."""
