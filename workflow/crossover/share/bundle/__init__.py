"""Bundles: archiving a run in one file, and rendering an archive again."""
