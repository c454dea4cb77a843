"""Sharing a finished run: publishing its report, archiving it, rendering an archive again."""
