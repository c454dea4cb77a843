"""One run of the workflow: what it measures and in which order, its messages, its claim on the folder of results."""
