"""Bundles: all of a run in one archive, and an archive rendered again."""
