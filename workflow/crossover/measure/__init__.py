"""The measurement: runs one launch, and writes its raw file, with measurements or a hole."""
