"""Publishing a report: a branch, a folder, an archive."""
