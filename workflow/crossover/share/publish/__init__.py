"""Publishing a report to a branch, a folder or a zip file."""
