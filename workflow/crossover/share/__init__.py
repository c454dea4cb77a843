"""Sharing a finished run: publishing its report, and bundling it in one archive."""
