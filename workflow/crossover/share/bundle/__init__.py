"""Bundles: a run in one archive, and the report rendered from it again."""
